// The nights of an import: what stands, who comes back, and what remains, as a table.
import { describe, expect, it } from "vitest";
import { casesOf, jobs, play } from "./nights.ts";

describe.each<[title: string, table: string, resubscriptions?: number]>([
  [
    "From night to night a refusal stands",
    `
  at the service: the row's other fields go through, and unchanged it is skipped with the same kept
    ada:+; person ada:-; ada:+; ada:+ (unchanged); ada:+ | succeeded, succeeded email:service, skipped email:service, succeeded email:service | ada:- | 0 1 0 1
  by telephone
    ada:.+; person ada:.-; ada:.+ | succeeded, succeeded phone:service | ada:.- | 0 1
  of one of two channels
    ada:++; person ada:.-; ada:++ | succeeded, succeeded phone:service | ada:+- | 0 1
  and says nothing of a channel that the row does not name
    ada:++; ada:+; person ada:.-; ada:+ | succeeded, succeeded, succeeded | ada:+- | 0 1 1
  where the row names the address without a word
    ada:?; person ada:-; ada:?; ada:+ | succeeded, succeeded email:service, succeeded email:service | ada:- | 0 1 1
  whatever is new in another channel
    ada:+0; person ada:-; ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  where the row names a channel more
    ada:+; person ada:-; ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  and an opt-out of another channel goes with it
    ada:++; person ada:-; ada:+- | succeeded, succeeded email:service | ada:-- | 0 1
  over two writes of the row, with one look
    ada:+ ada:++; person ada:-; ada:+ ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  after a double opt-in
    ada:+ (double opt-in); person ada:-; ada:+ (double opt-in) | succeeded, succeeded email:service | ada:- | 0 1
  as a suppression, which each write restates
    ada:+; tool ada:+.s; ada:+ | succeeded, succeeded | ada:+.s | 0 1
  as a suppression, where the row names one of the addresses
    ada:++; tool ada:++s; ada:+ | succeeded, succeeded | ada:++s | 0 1
  as a suppression that the row would end
    ada:+.x; tool ada:+.s; ada:+.x | succeeded, succeeded is_suppressed:service | ada:+.s | 0 1
  though the row has failed since
    ada:+; ada:+ (refused); person ada:-; ada:+ (unchanged) | succeeded, failed, succeeded email:service | ada:- | 0 1 1
  though a new opt-in may have been applied
    ada:0; ada:+ (in doubt); person ada:-; ada:+ (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  though a row that says NON_SUBSCRIBED may not have been sent
    ada:+; ada:0 (unanswered); person ada:-; ada:0 (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  though a run was left, and its row may have been applied
    ada:+ (left); ada:+ (in doubt, left); person ada:-; ada:+ (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  that the row itself wrote, whatever it says later
    ada:+; ada:-; ada:+; ada:0 | succeeded, succeeded, succeeded email:service, succeeded email:service | ada:- | 0 0 1 1
  that the row itself wrote, through nights of failure
    ada:-; ada:0 (refused); ada:+ (refused); ada:+ | succeeded, failed, failed, succeeded email:service | ada:- | 0 1 1 1
  that another call wrote during a night
    ada:+; call ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  that another call wrote before the row, unchanged with the same kept
    early call ada:-; ada:+; ada:+ (unchanged); ada:+ | succeeded email:process, skipped email:process, succeeded email:service | ada:- | 0 0 1
  that another call wrote of a channel at whose address the row says nothing
    early call ada:+-; ada:+?; ada:0? | succeeded phone:process, succeeded phone:service | ada:0- | 0 1
  that another call wrote before one without a consent
    early call ada:- ada:?; ada:+ | succeeded email:process | ada:- | 0
  that another call wrote, though the service shows a contact without that address
    ada:.+; early call ada:-; ada:+ | succeeded, succeeded email:process | ada:.+ ada:- | 0 1
  that another call wrote, as a suppression, though the service shows the contact that the row had before
    ada:+; early call ada2:?.s; ada2:+ | succeeded, succeeded | ada:+ ada2:+.s | 0 1
  in a run that goes on, for a row that it had not read
    (left); call ada:-; ada:+ (left); ada:+ (no look) | skipped, succeeded email:process, succeeded email:process | ada:- | 0 0 0
  in a run that goes on, channel by channel
    ada:+0 (left); call ada:0-; ada:-+ (no look) | succeeded, succeeded phone:process | ada:-- | 0 0
  after a first night that a snapshot guarded
    (left); call ada:-; (absent); ada:+ (snapshot); ada:+ | skipped, skipped, succeeded email:service, succeeded email:service | ada:- | 0 0 1 1
  of a contact of whom only a snapshot knows
    ada:+; bob:+; person ada:-; ada:+ (snapshot) | succeeded, succeeded, succeeded email:service | ada:- bob:+ | 0 1 2
  without looks, where a snapshot shows it
    ada:+; person ada:-; ada:+ (no look, snapshot) | succeeded, succeeded email:service | ada:- | 0 1
`,
  ],
  [
    "A row is superseded each night, until that changes, whose contact",
    `
  is gone
    ada:+; everyone is deleted; ada:+; ada:+ | succeeded, superseded:service, superseded:service |  | 0 1 1
  had refused before the row named another address
    ada:+; person ada:-; ada2:+; ada2:+ | succeeded, superseded:service, superseded:service | ada:- | 0 1 1
  is suppressed, where the row names somebody else
    ada:+; tool ada:+.s; bob:+ | succeeded, superseded:service | ada:+.s | 0 1
  of the last night had refused, where the row names an earlier one again
    ada:+; bob:-; ada:+ | succeeded, succeeded, superseded:service | ada:+ bob:- | 0 0 1
  is not current, without a look; the next night judges the row afresh, by what it was before
    ada:+ (outdated); ada:+ (unchanged); ada:0 (unchanged, outdated); ada:+ (unchanged) | superseded:not-current, succeeded, superseded:not-current, skipped | ada:+ | 0 0 0 0
  comes back
    ada:+; person ada:-; ada2:+; tool ada:+; ada2:+ | succeeded, superseded:service, succeeded | ada:+ ada2:+ | 0 1 1
  is refused at the new address too
    ada:+; person ada:-; ada2:- | succeeded, succeeded | ada:- ada2:- | 0 0
`,
  ],
  [
    "Who comes back, comes by a call of their own:",
    `
  by another process; the unchanged row stays as it is
    ada:+; person ada:-; ada:+; tool ada:+; ada:+ (unchanged); ada:+ | succeeded, succeeded email:service, skipped email:service, succeeded | ada:+ | 0 1 0 1
  by a call of the client
    ada:+; call ada:-; ada:+; call ada:+; ada:+ | succeeded, succeeded email:service, succeeded | ada:+ | 0 1 1
  by a call of the client before the row
    early call ada:- ada:+; ada:+ | succeeded | ada:+ | 0
  by a call of the client in a run that goes on, after one that refused
    (left); call ada:-; early call ada:+; ada:+ (no look) | skipped, succeeded | ada:+ | 0 0
  by a call of the client in the run before it was left
    (left); call ada:- ada:+; ada:+ (no look) | skipped, succeeded | ada:+ | 0 0
  by another process since a call refused, as a look shows
    ada:+ (absent); early call ada:-; early tool ada:+; ada:+ (snapshot) | succeeded, succeeded | ada:+ | 0 1
  by another process, in a run that goes on
    ada:+ (left); call ada:-; ada:+ (left); tool ada:+; ada:+ | succeeded, succeeded email:service, succeeded | ada:+ | 0 1 1
  by the mail of a double opt-in
    ada:+ (double opt-in); tool ada:0; ada:+ (double opt-in); ada confirms; ada:+ (double opt-in) | succeeded, succeeded, succeeded | ada:+ | 0 1 1
`,
  ],
  [
    "Of two rows with one address, one that refuses and one that subscribes, the refusal stands",
    `
  whichever comes first: unchanged, both are skipped with the same kept
    ada:+ & ada:- (list); ada:+ & ada:- (list, unchanged) | succeeded email:run & succeeded, skipped email:run & skipped | ada:- | 0 0
  and the subscription keeps it
    ada:- & ada:+; ada:- & ada:+ (unchanged) | succeeded & succeeded email:run, skipped & skipped email:run | ada:- | 0 0
  over any number of rows
    ada:- & ada:+ & ada:0 & ada:+ | succeeded & succeeded email:run & succeeded email:run & succeeded email:run | ada:- | 0
  channel by channel
    ada:-+ & ada:+- & ada:++; ada:-+ & ada:+- & ada:++ (unchanged) | succeeded & succeeded email:run & succeeded email:run phone:run, skipped & skipped email:run & skipped email:run phone:run | ada:-- | 0 0
  with one key, too
    ada:- & ada:+ (one key); ada:- & ada:+ (one key, unchanged, no look) | succeeded & succeeded email:run, succeeded & succeeded email:run | ada:- | 1 0
  with one key and a list, too
    ada:+ & ada:- & ada:0 (one key, list); ada:+ & ada:- & ada:0 (one key, list, unchanged) | succeeded email:run & succeeded & succeeded email:run, succeeded email:run & succeeded & succeeded email:run | ada:- | 2 2
  also where the first is in doubt and must not be sent again, as it may have been
    ada:-+ (double opt-in, in doubt); ada:-+ & ada:+ (double opt-in, unchanged) | unknown, unknown & succeeded email:run | ada:-+ | 0 0 | 1 1
  where the first was skipped
    ada:-; ada:- & ada:+ (unchanged) | succeeded, skipped & succeeded email:run | ada:- | 0 0
  where the first may have been sent
    ada:- & ada:+ (in doubt) | unknown & succeeded email:run | ada:- | 0
  where the service refused the first, as the person has refused all the same
    ada:- & ada:+ (refused) | failed & succeeded email:run | ada:- | 0
  where the first was sent with a refusal in place of its word
    ada:+; person ada:-; ada:+ & ada:+ | succeeded, succeeded email:service & succeeded email:run | ada:- | 0 1
  where the first was skipped with one that an earlier night kept: the next one is looked up by its id
    ada:+; person ada:-; ada:+; ada:+ & ada:+ (unchanged) | succeeded, succeeded email:service, skipped email:service & succeeded email:service | ada:- | 0 1 1
  but not where she has come back since
    ada:+; person ada:-; ada:+; tool ada:+; ada:+ & ada:+ & ada:+ (unchanged) | succeeded, succeeded email:service, skipped email:service & succeeded & succeeded | ada:+ | 0 1 2
  nor where she comes back by a call while rows of hers go
    ada:+; person ada:-; ada:+ & ada:+; call ada:+ | succeeded, succeeded email:service & succeeded | ada:+ | 0 1
  not where the first is superseded
    ada:- & ada:+ (first outdated) | superseded:not-current & succeeded | ada:+ | 0
  whatever a call of the process says between them
    ada:- & ada:+; call ada:+ | succeeded & succeeded email:run | ada:- | 0
  not of another channel, nor of another person
    ada:-+ & ada:.+ & bob:+ | succeeded & succeeded & succeeded | ada:-+ bob:+ | 0
`,
  ],
  [
    "A second row with a known key is looked up as the first one is, and subscribes nobody who left",
    `
  behind one that is sent
    ada:+ & ada:0 (one key); person ada:-; ada:+ & ada:0 (one key) | succeeded & succeeded, succeeded email:service & succeeded email:service | ada:- | 1 2
  behind one that is superseded
    ada:+ & ada:0 (one key); person ada:-; ada:+ & ada:0 (one key, first outdated) | succeeded & succeeded, superseded:not-current & succeeded email:service | ada:- | 1 1
`,
  ],
  [
    "Two rows with one key are both sent, in order, each night",
    `
  though neither has changed
    ada:+ & ada:0 (one key); ada:+ & ada:0 (one key, unchanged) | succeeded & succeeded, succeeded & succeeded | ada:0 | 1 2 | 2 2
  though one has changed
    ada:+ & ada:0 (one key); ada:+ & ada:? (one key, unchanged) | succeeded & succeeded, succeeded & succeeded | ada:+ | 1 2 | 2 2
  though the first is in doubt and must not be sent again: what is in doubt is not the second
    ada:+ & bob:+ (one key, double opt-in, in doubt) | unknown & succeeded | ada:+ bob:+ | 0 | 2
  three of them
    ada:+ & ada:0 & ada:? (one key); ada:+ & ada:0 & ada:? (one key, unchanged) | succeeded & succeeded & succeeded, succeeded & succeeded & succeeded | ada:0 | 2 3 | 3 3
  but rows that say the same are one: the second is skipped
    ada:+ & ada:+ (one key) | succeeded & skipped | ada:+ | 0 | 1
`,
  ],
  [
    "A word counts for the address that is shown with it:",
    `
  the refused number is another one's
    ada:++; person ada:.-; ada3:++; ada3:++ (snapshot) | succeeded, superseded:service, superseded:service | ada:+- | 0 1 1
  the refused number is the row's
    ada:++; person ada:.-; ada:++; ada:++ (snapshot) | succeeded, succeeded phone:service, succeeded phone:service | ada:+- | 0 1 1
  the e-mail alone is the row's
    ada:++; person ada:.-; ada:+; ada:+ (snapshot) | succeeded, succeeded, succeeded | ada:+- | 0 1 1
`,
  ],
  [
    "A row is looked up by the id that the snapshot has",
    `
  for its e-mail, beside the one that an earlier night recorded
    ada:+; tool bob:+; person bob:-; bob:+ (snapshot) | succeeded, succeeded email:service | ada:+ bob:- | 0 2
  and by the one that an earlier night recorded, which may have refused since
    ada:+; tool bob:+; early call ada:-; bob:+ (snapshot) | succeeded, superseded:service | ada:- bob:+ | 0 2
  for its e-mail, where another contact has its phone
    ada:++ (absent); tool ada2:+; person ada2:-; ada2:++ (snapshot) | succeeded, succeeded email:service | ada:++ ada2:-+ | 0 1
  for its e-mail, where another contact has refused its phone: that number is refused
    ada:++ (absent); person ada:.-; tool ada2:+; ada2:++ (snapshot) | succeeded, succeeded phone:service | ada:+- ada2:+- | 0 1
  for its phone, where it names no e-mail
    ada:++ (absent); person ada:.-; ada:.+ (snapshot) | succeeded, succeeded phone:service | ada:+- | 0 1
  for its phone, where there is none for its e-mail
    ada:++ (absent); person ada:.-; ada2:++ (snapshot) | succeeded, succeeded phone:service | ada2:+- | 0 1
`,
  ],
  [
    "Nothing holds back, and looks up only what says more than refusals:",
    `
  a consent that nobody has refused
    ada:+; tool ada:0; ada:+; ada:0; ada:0 | succeeded, succeeded, succeeded, succeeded | ada:0 | 0 1 1 1
  an opt-out, changed or not
    ada:-; ada:-; ada:- (unchanged) | succeeded, succeeded, skipped | ada:- | 0 0 0
  an opt-out that suppresses
    ada:++; ada:--s | succeeded, succeeded | ada:--s | 0 0
  an opt-out that names another address without a word, whose refusal stands
    ada:++; person ada:.-; ada:-? | succeeded, succeeded phone:service | ada:-- | 0 1
  or that asks by mail at such an address
    ada:++; person ada:-; ada:?- (double opt-in) | succeeded, succeeded email:service | ada:-- | 0 1
  a row after another word of a call
    early call ada:0; ada:+ | succeeded | ada:+ | 0
  a row after a call's refusal of another contact
    early call bob:-; ada:+ | succeeded | bob:- ada:+ | 0
  a row after a call's refusal of another channel
    early call ada:+-; ada:+ | succeeded | ada:+- | 0
  an opt-out after another call's opt-in
    early call ada:+; ada:-; ada:- (refused); ada:- | succeeded, failed, succeeded | ada:- | 0 0 0
  an opt-out in a run that goes on
    ada:+ (left); call ada:+; early call ada:+; ada:- (left); ada:- | succeeded, succeeded, succeeded | ada:- | 0 0 0
  a row of which nothing is known
    ada:+ (refused); ada:+ | failed, succeeded | ada:+ | 0 0
  an unchanged row
    ada:+; person ada:-; ada:+ (unchanged) | succeeded, skipped | ada:- | 0 0
`,
  ],
  [
    "A night sends exactly what has changed:",
    `
  rows that are new and rows that failed, and none that succeeded
    ada:+ & bob:+ (refused); ada:+ & bob:+ & ada4:+ (unchanged) | failed & succeeded, succeeded & skipped & succeeded | bob:+ ada:+ ada4:+ | 0 0 | 2 2
  a row that changes, and changes back
    ada:+; ada:0 (unchanged); ada:0 (unchanged); ada:+ (unchanged) | succeeded, succeeded, skipped, succeeded | ada:+ | 0 1 0 1 | 1 1 0 1
  no row that changed back after a write that was not applied: it is as the night before
    ada:+; ada:0 (unchanged, refused); ada:+ (unchanged) | succeeded, failed, skipped | ada:+ | 0 1 0 | 1 1 0
  a row that changed back after a write that may have been applied, as it may have to be undone
    ada:+; ada:0 (unchanged, in doubt); ada:+ (unchanged) | succeeded, unknown, succeeded | ada:+ | 0 1 1 | 1 1 1
`,
  ],
  [
    "A row that may have been carried out",
    `
  is sent again where it is repeatable, as it now says
    ada:+ (in doubt); ada:+ (unchanged); ada:+ (unchanged) | unknown, succeeded, skipped | ada:+ | 0 0 0 | 1 1 0
  also changed
    ada:+ (in doubt); ada:0; ada:0 (unchanged) | unknown, succeeded, skipped | ada:0 | 0 0 0 | 1 1 0
  is sent each night while its end is unknown
    ada:+ (in doubt); ada:0 (in doubt); ada:+ (in doubt); ada:+ (unchanged) | unknown, unknown, unknown, succeeded | ada:+ | 0 0 0 0 | 1 1 1 1
  is not sent where it must not be repeated
    ada:+ (double opt-in, in doubt); ada:+ (double opt-in, unchanged); ada:+ (double opt-in, unchanged) | unknown, unknown, unknown | ada:+ | 0 0 0 | 1 0 0
  also changed, as it may be the same mail
    ada:+ (double opt-in, in doubt); ada:0 (double opt-in); ada:0 (double opt-in, unchanged) | unknown, unknown, unknown | ada:+ | 0 0 0 | 1 0 0
  or where one of its writes must not be
    ada:+ (double opt-in, in doubt); ada:0 ada:0 (double opt-in at last) | unknown, unknown | ada:+ | 0 0 | 1 0
  though that write says nothing but a refusal
    ada:- ada:0 (double opt-in at first, in doubt); ada:- ada:0 (double opt-in at first, unchanged) | unknown, unknown | ada:- | 0 0 | 1 0
  also where it is not current
    ada:+ (double opt-in, in doubt); ada:+ (double opt-in, unchanged, outdated) | unknown, unknown | ada:+ | 0 0 | 1 0
  until its writes may be repeated
    ada:+ (double opt-in, in doubt); ada:0 (double opt-in); ada:0; ada:0 (unchanged) | unknown, unknown, succeeded, skipped | ada:0 | 0 0 0 0 | 1 0 1 0
  or until it says nothing but refusals, which ends the doubt
    ada:+ (double opt-in, in doubt); ada:- (double opt-in); ada:- (double opt-in, unchanged); ada:+ | unknown, succeeded, skipped, succeeded email:service | ada:- | 0 0 0 1 | 1 1 0 1
  but not with an opt-out that subscribes in another channel
    ada:+ (double opt-in, in doubt); ada:-+ (double opt-in) | unknown, unknown | ada:+ | 0 0 | 1 0
  or names a channel more, of which it does not say so
    ada:+ (double opt-in, in doubt); ada:-0 (double opt-in) | unknown, unknown | ada:+ | 0 0 | 1 0
`,
  ],
  [
    "What remains:",
    `
  a job without looks
    ada:+; person ada:-; ada:+ (no look) | succeeded, succeeded | ada:+ | 0 0
  a job without looks, of what another call refused in an earlier run
    (left); call ada:-; (absent); ada:+ (no look) | skipped, skipped, succeeded | ada:+ | 0 0 0
  another e-mail than the one that a snapshot's contact has refused
    ada:++ (absent); person ada:-; ada2:++ (snapshot) | succeeded, succeeded | ada2:++ | 0 1
  a contact that is new to its key, and in no snapshot
    early call ada:-; ada:+ (absent); ada:+ | succeeded email:process, succeeded | ada:+ | 0 0
  a contact that its key had before another one, and in no snapshot
    ada:+; bob:+; person ada:-; ada:+ | succeeded, succeeded, succeeded | ada:+ bob:+ | 0 1 1
`,
    1,
  ],
])("%s", (_, table, resubscriptions = 0) => {
  it.each(casesOf(table))("%s", async (_rule, steps, expected) => {
    expect(await play(steps)).toMatchObject({ ...expected, resubscriptions });
  });
});

it.each(
  casesOf(`
  adds to a list
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  leaves the consent to the list
    ada:?; person ada:-; ada:? | succeeded, succeeded email:service | ada:- | 0 1
  sends events alone
    ada:+; ada:+ | succeeded, succeeded | ada:0 | 0 0
  sends events beside
    ada:+; person ada:-; ada:+; ada2:+ | succeeded, succeeded email:service, superseded:service | ada:- | 0 1 1
  writes by v2, whose answer has no id
    ada:+; ada:+ | succeeded, succeeded | ada:+ | 0 0
  writes by v1 and v2
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  writes by v2 and v1
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  creates by a custom request
    ada:+; person ada:-; ada:+ | succeeded, superseded:service | ada:- | 0 1
  adds by a custom request
    ada:+; person ada:-; ada:+ | succeeded, superseded:service | ada:- | 0 1
`),
)("A row that %s is looked up by the id that its answer gave", async (job, steps, expected) => {
  expect(await play(steps, jobs[job])).toMatchObject({ ...expected, resubscriptions: 0 });
});
