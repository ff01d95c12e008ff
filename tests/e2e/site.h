#pragma once
// A small site of real parts: nodes that are one sshd on several addresses, BMCs over HTTPS, a real
// Slurm, and the cupel that was built. Everything in a folder of its own, on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/child.h"
#include "tests/support/https_server.h"
#include "tests/support/own_host/own_host.h"
#include "tests/support/real_part.h"
#include "tests/support/slurm.h"
#include "tests/support/sshd.h"

namespace cupel::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The profile of whatever machine runs the tests: only what is true everywhere.
inline constexpr const char* kProfile = R"(profile: lab
description: the machine that runs the tests
units: 1
power: {idle: 100, loaded: 200}
criteria:
  node-facts:
    - {measure: memory.total, at_least: 0.1, unit: GiB, source: any machine}
  cpu-memory:
    - {measure: stress.failures, at_most: 0, unit: errors, source: stress-ng}
  disk:
    - {measure: disk.errors, at_most: 0, unit: errors, source: fio}
)";

inline constexpr const char* kPlaybook = R"(playbook: qualify
description: the way of a node, in small
max_parallel: 8
steps:
  - step: slurm-drain
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: node-facts
  - stage: cpu-memory
    with: {duration: 2s, memory: 16MiB}
  - stage: disk
    with: {directory: /var/tmp, size: 16MiB, runtime: 1s}
  - step: audit
  - step: verdict
  - step: hand-off
)";

/// What other users may do something with, below a state folder, by its path in there.
std::vector<std::string> open_to_others(const std::filesystem::path& state);

class Site {
 public:
  enum class Slurm { real, none };

  /// Nodes s01-n[01-N].
  explicit Site(int nodes, Slurm slurm = Slurm::real);
  ~Site();

  /// The command line of cupel, with this site's state and, where `arguments` name no other, the
  /// cupel-node that this build made for nodes. Run in `folder`.
  std::vector<std::string> cupel(std::vector<std::string> arguments) const;
  Ran run(std::vector<std::string> arguments,
          std::chrono::seconds patience = std::chrono::seconds{180}) const;
  /// The inventory again, after something moved.
  void write_inventory() const;
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

  static std::string name(int node);
  test::HttpsServer& bmc(int node) { return *bmcs[static_cast<std::size_t>(node - 1)]; }

  std::filesystem::path folder;
  int count;
  std::unique_ptr<Sshd> sshd;
  std::unique_ptr<LoopbackSlurm> slurm;  // nullptr where there is to be none
  std::vector<std::unique_ptr<test::HttpsServer>> bmcs;
  std::string password = "open sesame";
  std::string
      factory{};  // password that the BMCs left the factory with; empty: not in the inventory
};

/// A run that would stay open for a person who never comes in a test, unless the test says so.
inline bool waits_for_repair(const std::vector<std::string>& arguments) {
  const bool runs = !arguments.empty() && arguments[0] == "run";
  return runs && std::ranges::find(arguments, "--wait-for-repair") == arguments.end() &&
         std::ranges::find(arguments, "--help") == arguments.end();
}

/// `arguments` behind the options of the command itself: a build with sanitizers has no programs
/// beside cupel, so that they are named. `folder`: of those where `arguments` name none.
std::vector<std::string> with_programs(std::vector<std::string> arguments,
                                       const std::string& folder);

/// One object for each line that holds one.
std::vector<json::object> json_lines(const std::string& text);

}  // namespace cupel::testing

/// Every test of this folder needs them.
#define CUPEL_NEEDS_SITE()                                                                       \
  CUPEL_NEEDS_REAL_PART(::cupel::testing::Sshd::installed(), "openssh-server is not installed"); \
  CUPEL_NEEDS_REAL_PART(::cupel::testing::LoopbackSlurm::installed(),                            \
                        "slurm-wlm or munge is not installed");                                  \
  CUPEL_NEEDS_REAL_PART(::cupel::testing::has_own_host(),                                        \
                        "no /opt of its own for cupel-node: only root may make one")
