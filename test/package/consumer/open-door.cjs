/** The mock as a client reaches it: by real HTTP, or without leaving the process. */
exports.openDoor = async (mock, door) =>
  door === "http" ? mock.listen() : { clientOptions: mock.clientOptions, close: async () => {} };
