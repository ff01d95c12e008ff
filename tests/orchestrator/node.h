#pragma once
// A node for the tests of orchestrator/ssh/: a real sshd, and a loop to talk to it from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "orchestrator/ssh/ssh.h"
#include "tests/support/real_part.h"
#include "tests/support/sshd.h"

namespace cupel::ssh {

using namespace std::chrono_literals;

/// Pins in memory.
struct Notebook final : inventory::KnownKeys {
  std::map<std::string, std::string, std::less<>> pins;
  std::optional<std::string> pinned(std::string_view name) override {
    const auto found = pins.find(name);
    return found == pins.end() ? std::nullopt : std::optional{found->second};
  }
  void pin(std::string_view name, std::string_view fingerprint) override {
    pins.emplace(name, fingerprint);
  }
};

struct Ran {
  CommandOutcome outcome;
  std::string out;
  std::string err;
};

inline Sink into(Ran& ran) {
  return [&ran](Stream stream, std::string_view piece) {
    (stream == Stream::out ? ran.out : ran.err) += piece;
  };
}

/// One sshd for all tests of a suite; a session for each test.
class OnANode : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (testing_sshd::installed()) sshd_ = std::make_unique<testing_sshd>();
  }
  static void TearDownTestSuite() { sshd_.reset(); }
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(sshd_, "/usr/sbin/sshd is not installed");
    install_node_program();
  }

  /// The node's own cupel-node, in its PATH. It reads nothing of the log of this machine's kernel.
  static void install_node_program() {
    const std::filesystem::path file = sshd_->file("path/cupel-node");
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file}
        << "#!/bin/sh\nif [ \"$1\" = kernel-log ]; then echo 'cupel-node: not found' "
           ">&2; exit 127; fi\nexec '" NODE_BINARY "' \"$@\"\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  using testing_sshd = cupel::testing::Sshd;

  Result<std::unique_ptr<Session>> try_connect(const inventory::SshAccess& access) {
    return run_to_end(io, connect("a01-n01", access, known, Deadline::in(60s)));
  }

  std::unique_ptr<Session> session() {
    auto connected = try_connect(sshd_->access());
    if (!connected) throw std::runtime_error{connected.error().what};
    return std::move(connected).value();
  }

  Result<Ran> run(Session& on, const std::string& command, const std::string& input = {},
                  std::chrono::milliseconds patience = 60s) {
    Ran ran;
    auto outcome = run_to_end(io, on.run(command, input, into(ran), Deadline::in(patience)));
    if (!outcome) return std::move(outcome).error();
    ran.outcome = outcome.value();
    return ran;
  }

  static inline std::unique_ptr<testing_sshd> sshd_;
  asio::io_context io;
  Notebook known;
};

}  // namespace cupel::ssh
