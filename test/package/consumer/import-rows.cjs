// An import of rows that is stopped, and continues from its checkpoint.
const { openEntryPoint } = require("./open-entry-point.cjs");
const file = `import-${Math.random()}.ckpt`;

exports.run = async function ({ sdk, checkpoints, mocking, entryPoint }) {
  const mock = mocking.createMockService();
  const server = await openEntryPoint(mock, entryPoint);
  const audience = new sdk.AudienceClient({ ...server.clientOptions, maxRetries: 0 });
  const rows = Array.from({ length: 6 }, (_, at) => ({
    email: `${at}@example.com`,
    email_opt_in: "SUBSCRIBED",
  }));
  const importRows = () =>
    audience
      .bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), {
        concurrency: 1,
        key: (row) => row.email,
        checkpoint: checkpoints.fileCheckpoint(file),
        stopWhen: (error) => error.code === "server",
      })
      .summary();
  mock.addFault({ kind: "500-before", after: 2, times: 1 });
  const stopped = await importRows().catch((error) => error.code);
  const { succeeded, skipped } = await importRows();
  await audience.close();
  await server.close();
  return { stopped, succeeded, skipped, contacts: mock.organization("mock-organization").contacts.length };
};

exports.expected = { stopped: "server", succeeded: 4, skipped: 2, contacts: 6 };
