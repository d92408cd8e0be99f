import { subscribe } from "./actions";

const problems = new Map([
  ["address", "Please check the address."],
  ["later", "Please try again later."],
]);

interface Props {
  searchParams: Promise<{ problem?: string }>; // Next 14 gives the object itself, which `await` takes too
}

export default async function Page({ searchParams }: Props) {
  const { problem = "" } = await searchParams;
  return (
    <form action={subscribe}>
      <p role="status">{problems.get(problem)}</p>
      <label>
        E-mail <input name="email" type="email" required />
      </label>
      <button>Subscribe</button>
    </form>
  );
}
