#pragma once
// Real machines on one network of the test's own, each behind a virtual BMC with Redfish and IPMI.
// BMCs and machines live on one loop, in a thread in that network. Root only (network_bed.h).
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "rehearsal/bmc/server.h"
#include "rehearsal/ipmi/server.h"
#include "tests/support/captures.h"
#include "tests/support/qemu/network_bed.h"
#include "tests/support/qemu/qemu_system.h"

namespace cupel::testing {

class QemuRack {
 public:
  static constexpr const char* kUser = "admin";
  static constexpr const char* kPassword = "Correct-horse-20byte";

  /// Why it cannot be here; empty where it can.
  static std::string missing(
      rehearsal::QemuMachine::Arch arch = rehearsal::QemuMachine::Arch::x86_64);

  /// `machines`: folder, tap, MAC, serial and UUID are given to those that have none.
  explicit QemuRack(std::vector<rehearsal::QemuMachine> machines,
                    rehearsal::BmcSpec spec = rehearsal::BmcSpec{.vendor = "dgx"});
  ~QemuRack();
  QemuRack(const QemuRack&) = delete;
  QemuRack& operator=(const QemuRack&) = delete;

  const std::filesystem::path& folder() const { return folder_.path(); }
  int count() const { return static_cast<int>(machines_.size()); }
  // Machines are counted from 1.
  static std::string name(int number) { return "q01-n0" + std::to_string(number); }
  static std::string address(int number) { return "10.77.0.1" + std::to_string(number); }
  static std::string bmc_address(int number) { return "127.0.1." + std::to_string(number); }
  const rehearsal::QemuMachine& machine(int number) const;

  /// A line of dnsmasq for each machine: its address by its MAC.
  std::vector<std::string> dhcp_hosts() const;

  /// What `ask(system)` returns, asked on the loop.
  template <class Ask>
  auto on(int number, Ask ask) {
    std::promise<decltype(ask(std::declval<rehearsal::QemuSystem&>()))> reported;
    asio::post(io_, [&] { reported.set_value(ask(system(number))); });
    return reported.get_future().get();
  }
  void press(int number, rehearsal::Reset reset);
  bool comes_to(int number, rehearsal::Power power,
                std::chrono::seconds patience = std::chrono::seconds{60});

  /// True once its console has shown `text` since it was last forgotten; false where that takes
  /// longer than any machine needs beside a build that has all processors.
  bool shows(int number, const std::string& text,
             std::chrono::seconds patience = std::chrono::seconds{600});
  std::string shown(int number);
  void forget(int number);

 private:
  struct One;
  rehearsal::QemuSystem& system(int number);
  One& one(int number) { return *machines_[static_cast<std::size_t>(number - 1)]; }

  test::TemporaryFolder folder_;
  NetworkBed bed_;
  rehearsal::Clock clock_{1};
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<One>> machines_;
  std::thread thread_;
};

struct QemuRack::One {
  One(asio::any_io_executor executor, const rehearsal::Clock& clock, rehearsal::QemuMachine machine,
      int number, const rehearsal::BmcSpec& spec);

  rehearsal::QemuSystem system;
  rehearsal::BmcServer https;
  rehearsal::ipmi::Server ipmi;
  // Guarded by the rack's mutex:
  std::string unread{}, shown{};
  rehearsal::Power power = rehearsal::Power::off;
};

}  // namespace cupel::testing
