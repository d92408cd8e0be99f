-- What the recipe keeps beside the tables of graphile-worker.

create table audience_people (
  person text primary key, -- your own id of the person
  contact_id text, -- her id at the service, once a response has shown it; for those who are there already, fill it from a snapshot
  acts jsonb not null -- what is not sent yet, oldest first: [{ "at": …, "write": … }]
);

-- What was not sent as it was meant, for a person to look at. Nothing sends it again.
create table audience_unsent (
  at timestamptz not null default now(),
  write jsonb not null,
  reason text not null
);

-- The count of the rate limit, in one row. Unlogged: a crash of PostgreSQL may empty it.
create unlogged table audience_count (id int primary key default 1 check (id = 1), count json not null);
