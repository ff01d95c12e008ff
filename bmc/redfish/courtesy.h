#pragma once
// How politely one BMC is asked: so many requests at a time, first come first served. BMCs answer
// bursts with resets and crashes. Not a retry policy.
#include <cstddef>
#include <deque>
#include <string>

#include "base/task.h"

namespace cupel::bmc::redfish {

/// A gate that lets `width` callers in at a time, in the order in which they came. One thread only.
class Gate {
 public:
  explicit Gate(int width) : free_{width} {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// The right to be inside; leaving is its destruction. The gate must outlive it.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_{&gate} {}
    Pass(Pass&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  /// Waits for its turn. Cancel-safe. Errors: kTimeout at the deadline; kCancelled; kBusy where
  /// more than kMostWaiting are in line.
  Task<Result<Pass>> enter(Deadline deadline);

  static constexpr std::size_t kMostWaiting = 1000;

 private:
  struct Waiter {
    asio::steady_timer wake;
    bool admitted = false;
  };
  void leave();

  int free_;
  std::deque<Waiter*> line_;
};

/// What everything in this process that talks to one BMC shares.
struct Courtesy {
  explicit Courtesy(int requests) : at_once{requests} {}
  Gate at_once;   // requests in flight
  Gate login{1};  // whoever tries credentials is alone: a wrong password is sent once, not by all
  std::string refused_credentials{};  // a digest of those that the BMC refused last; empty: none
};

}  // namespace cupel::bmc::redfish
