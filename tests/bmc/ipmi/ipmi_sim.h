#pragma once
// OpenIPMI's simulated BMC, on a free UDP port of loopback, stopped by its process id: sensors,
// FRUs, a log with four entries, three users, a console that another program serves. It knows
// cipher suite 3 only.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "inventory/model.h"
#include "tests/support/child.h"

namespace cupel::bmc::ipmi {

class IpmiSim {
 public:
  static bool installed();

  /// `console_port`: TCP, on loopback, where its serial line is; 0: none.
  explicit IpmiSim(std::uint16_t console_port = 0);
  ~IpmiSim();
  IpmiSim(const IpmiSim&) = delete;
  IpmiSim& operator=(const IpmiSim&) = delete;

  inventory::Endpoint endpoint() const { return {"127.0.0.1", port_}; }

  /// What the machine behind it is: "1" on, "0" off.
  std::string power() const;
  /// What its chassis was asked to do, line by line: "set power 0".
  std::string calls() const;

  void stop();
  void start() { start(port_); }

  /// What ipmitool prints for it: -C 3, as admin.
  testing::Ran ipmitool(std::vector<std::string> command,
                        const std::string& password = kPassword) const;

  static constexpr const char* kUser = "admin";
  static constexpr const char* kPassword = "open-sesame";

 private:
  void start(std::uint16_t port);

  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  std::unique_ptr<testing::Child> child_;
};

/// A UDP port of loopback that nobody has just now.
std::uint16_t free_udp_port();

}  // namespace cupel::bmc::ipmi
