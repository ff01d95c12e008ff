#pragma once
// One virtual BMC of a vendor over HTTPS, on a loop and a thread of its own: for tests of the
// client. It is the rehearsal's: it shares no code with bmc/.
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "inventory/model.h"
#include "rehearsal/bmc/service.h"
#include "rehearsal/machine.h"

namespace cupel::test {

class VirtualBmc {
 public:
  struct Options {
    rehearsal::BmcSpec bmc{};  // .vendor: a row of rehearsal/bmc/vendor_behavior.h
    double speed = 1000;       // so many times faster than life
    std::vector<rehearsal::Fault> faults{};
    rehearsal::BootTimes times{};
    bool ipmi = false;                          // it speaks that too
    std::string password = "Open-sesame-1234";  // of user "admin"; good enough for every policy
  };

  explicit VirtualBmc(Options options);
  /// Of that vendor, otherwise as usual.
  explicit VirtualBmc(const std::string& vendor);
  VirtualBmc(const VirtualBmc&) = delete;
  VirtualBmc& operator=(const VirtualBmc&) = delete;
  ~VirtualBmc();

  inventory::Endpoint endpoint() const;
  /// UDP; where it speaks IPMI.
  inventory::Endpoint ipmi_endpoint() const;
  /// No more HTTPS, as of a service that died.
  void silence_https();
  std::size_t ipmi_sessions();
  std::string user() const { return "admin"; }
  const std::string& password() const;
  /// Of the certificate that it shows now: "SHA256:...".
  std::string fingerprint();

  /// Requests that it was answering at the same time, at most.
  int most_at_once();

  void misbehave(rehearsal::Rule rule);

  /// What `ask(machine, service)` returns, asked on the BMC's loop.
  template <class Ask>
  auto on(Ask ask) {
    using Sourced =
        decltype(ask(std::declval<rehearsal::Machine&>(), std::declval<rehearsal::BmcService&>()));
    std::promise<Sourced> reported;
    post([&](rehearsal::Machine& machine, rehearsal::BmcService& service) {
      reported.set_value(ask(machine, service));
    });
    return reported.get_future().get();
  }

  /// Presses the button and waits until the operating system is up. False: it did not come up.
  bool boot();
  /// Waits for one of the machine's events after which that holds; true at once where it does.
  bool wait_until(std::function<bool(rehearsal::Machine&)> holds,
                  std::chrono::seconds patience = std::chrono::minutes{1});

 private:
  using Act = std::function<void(rehearsal::Machine&, rehearsal::BmcService&)>;
  void post(Act act);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::test
