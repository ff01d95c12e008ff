#pragma once
// A stage as its tests use it: prepared, run by a real shell, parsed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "burnin/measures/measure.h"
#include "burnin/stage.h"
#include "inventory/load_profile.h"
#include "tests/support/captures.h"

namespace cupel::burnin {

inline const inventory::Profile& profile(const std::string& name = "dgx-h100") {
  static std::map<std::string, inventory::Profile> loaded;
  const auto known = loaded.find(name);
  if (known != loaded.end()) return known->second;
  std::vector<inventory::Problem> problems;
  auto fresh = inventory::ProfileSource{"/nowhere"}.load(name, problems).value();
  return loaded.emplace(name, std::move(fresh)).first->second;
}

inline Result<Job> prepared(std::string_view name, const Parameters& with = {}) {
  return stage(name)->prepare(profile(), with);
}

/// Every measurement has its row, and the row's unit.
inline void expect_rows_for(std::string_view stage, const Findings& findings) {
  for (const auto& each : findings.measurements) {
    const auto* row = measure_row(each.name);
    ASSERT_NE(row, nullptr) << stage << " measures " << each.name;
    EXPECT_EQ(each.unit, row->unit) << stage << " measures " << each.name;
  }
}

inline Result<Findings> parsed(std::string_view name, const Output& output) {
  auto found = stage(name)->parse(profile(), output);
  if (found) expect_rows_for(name, *found);
  return found;
}

inline Result<Findings> parsed(std::string_view name, std::string text, int exit_status = 0) {
  return parsed(name, Output{std::move(text), "", exit_status});
}

/// By dash, the strictest of the shells that nodes have, where it is installed. `before` goes in
/// front of the script.
inline Output run_script(const std::string& script, const std::string& before = "") {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  std::ofstream{at("script")} << before << script;
  const auto shell = std::filesystem::exists("/usr/bin/dash") ? "dash " : "sh ";
  const auto command = shell + at("script") + " >" + at("out") + " 2>" + at("err") + " </dev/null";
  const int status = std::system(command.c_str());
  Output output;
  output.text = *read_file(at("out"), 64u << 20);
  output.errors = *read_file(at("err"), 64u << 20);
  output.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return output;
}

inline bool installed(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

inline std::optional<double> value_of(const Findings& findings, std::string_view name,
                                      std::string_view part = "") {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.value;
  return std::nullopt;
}

inline std::vector<std::string> names_of(const Findings& findings, inventory::PartKind kind) {
  std::vector<std::string> names;
  for (const auto& part : findings.parts)
    if (part.kind == kind) names.push_back(part.name);
  return names;
}

inline bool says_unknown(const Findings& findings, std::string_view fact) {
  return std::ranges::any_of(findings.unknown,
                             [&](const auto& each) { return each.fact.contains(fact); });
}

}  // namespace cupel::burnin
