/** The mock for a client: over real HTTP, or in the same process. */
exports.openEntryPoint = async (mock, entryPoint) =>
  entryPoint === "http" ? mock.listen() : { clientOptions: mock.clientOptions, close: async () => {} };
