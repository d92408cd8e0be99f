exports.programs = {
  scenario: require("./scenario.cjs"),
  failures: require("./failures.cjs"),
  import: require("./import-rows.cjs"),
  budget: require("./shared-budget.cjs"),
};
