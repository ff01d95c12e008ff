#pragma once
// One BMC over HTTPS, and one client's process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/for_each_of.h"
#include "bmc/redfish/redfish.h"
#include "tests/support/https_server.h"
#include "tests/support/small_machine.h"

namespace cupel::bmc {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class RememberedKeys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto known = pins.find(std::string{name});
    return known == pins.end() ? std::nullopt : std::optional{known->second};
  }
  void pin(std::string_view name, std::string_view fingerprint) override {
    ++times;
    pins[std::string{name}] = fingerprint;
  }
  std::map<std::string, std::string> pins;
  int times = 0;
};

/// A password that a test may change meanwhile.
inline redfish::SecretSource password_from(const std::string& where) {
  return [&where]() -> Task<Result<std::string>> {
    return [](std::string secret) -> Task<Result<std::string>> { co_return secret; }(where);
  };
}

/// What `work` comes to when it is cancelled as soon as `other` has ended.
template <class T>
Result<T> cancelled_after(asio::io_context& io, Task<void> other, Task<Result<T>> work) {
  std::optional<Result<T>> slot;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(io, std::move(other), asio::deferred),
      asio::co_spawn(io, detail::run_into(slot, std::move(work)), asio::deferred));
  run_to_end(io, [](auto& both) -> Task<bool> {
    co_await both.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    co_return true;
  }(race));
  return std::move(*slot);
}

class OverHttps : public ::testing::Test {
 protected:
  static constexpr const char* kSystem = "/redfish/v1/Systems/1";

  inventory::BmcAccess access() const {
    return {.endpoint = server.endpoint(), .user = "admin", .password = {}, .trust = trust};
  }
  std::unique_ptr<Bmc> open() {
    return redfish::open(transport, "a01-n01", access(), password_from(password), keys);
  }
  redfish::Peer peer() {
    return {.node = "a01-n01", .endpoint = server.endpoint(), .trust = trust, .known = &keys};
  }
  redfish::Client client() {
    return redfish::Client{transport, peer(), "admin", password_from(password)};
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  void run(Task<void> task) {
    run_to_end(io, [](Task<void> work) -> Task<bool> {
      co_await std::move(work);
      co_return true;
    }(std::move(task)));
  }
  /// Ends once the server has received so many requests in all, or where it is cancelled.
  Task<void> arrived(int requests) {
    co_await asio::this_coro::throw_if_cancelled(false);
    bool waits = true;
    while (waits && server.asked().requests < requests) {
      const auto paused = co_await pause_for(1ms);
      waits = paused.has_value();
    }
  }
  /// What `work` comes to when it is cancelled as soon as the server has received `requests` in
  /// all, of which it answers the last one after that.
  template <class T>
  Result<T> cancelled_at_request(int requests, Task<Result<T>> work) {
    answer_first(requests - 1);
    return cancelled_after(io, arrived_and_answered(requests), std::move(work));
  }
  /// The others wait at the server until it may answer more.
  void answer_first(std::optional<int> requests) {
    server.change([requests](auto& options) { options.answers = requests; });
  }
  Task<void> arrived_and_answered(int requests) {
    co_await arrived(requests);
    answer_first({});
  }
  static json::value test_system() { return test::small_machine(kSystem); }
  static Deadline soon() { return Deadline::in(60s); }

  asio::io_context io;
  test::HttpsServer server{{}};
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  inventory::Trust trust{};
  std::string password = "open sesame";
};

inline test::Habit page(int status, std::string body, std::string path = "/redfish/v1/Systems/1") {
  return {.method = "GET", .path = std::move(path), .status = status, .body = std::move(body)};
}

}  // namespace cupel::bmc
