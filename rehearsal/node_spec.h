#pragma once
// One node of a virtual rack as somebody wrote it down: its addresses, its BMC, what is wrong with
// it. Not the running machine: machine.h.
#include <cstdint>
#include <string>
#include <vector>

#include "rehearsal/fault.h"
#include "rehearsal/rules.h"

namespace cupel::rehearsal {

/// How long the parts of a boot take, in the rack's own time.
struct BootTimes {
  VirtualTime power_on{5};    // from the button to On
  VirtualTime power_off{3};   // from the button to Off
  VirtualTime shutdown{15};   // of an operating system that was asked politely
  VirtualTime post{120};      // from On to SSH
  VirtualTime report_lag{2};  // how far a BMC's PowerState trails the machine
  friend bool operator==(const BootTimes&, const BootTimes&) = default;
};

/// What kind of BMC a node has.
struct BmcSpec {
  std::string vendor = "dgx";     // a row of rehearsal/bmc/vendor_behavior.h
  bool licensed = true;           // for what needs a licence there
  bool factory_password = false;  // which must be changed first
  bool new_certificate = false;   // after each restart of the BMC
  bool latency = false;           // it thinks as long as its vendor's do
  std::string updates{};          // a row of rehearsal/bmc/update_behavior.h; empty: the vendor's
  /// Of a BMC with several machines: which of its Systems this one is ("Node1"). Empty: it has one.
  std::string system{};
  friend bool operator==(const BmcSpec&, const BmcSpec&) = default;
};

/// Who may log in, and with what. Secrets are files in the rack's folder, made there; never what
/// somebody's inventory refers to.
struct LoginSpec {
  std::string user = "admin";
  std::string secret = "bmc-password";
  std::string factory_user{};    // what the BMC left the factory with; empty: it is set up already
  std::string factory_secret{};  //
  friend bool operator==(const LoginSpec&, const LoginSpec&) = default;
};

/// What somebody has written down of the machine that stands there. Empty: drawn from the seed.
struct Identity {
  std::string serial{};
  std::string bmc_mac{};
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct NodeSpec {
  std::string name;
  std::string bmc_of{};  // the node, before this one, whose BMC is this one's too; empty: its own
  std::string bmc_address;
  std::uint16_t bmc_port = 0;   // 0: the operating system chooses
  std::uint16_t ipmi_port = 0;  // at the BMC's address
  std::string ssh_address;
  std::uint16_t ssh_port = 0;
  std::vector<Fault> faults{};
  BmcSpec bmc{};
  std::string profile{};  // empty: the rack's
  std::string rack{};     // empty: the one that has the spec's name
  std::vector<Rule> rules{};
  LoginSpec login{};
  Identity identity{};
};

}  // namespace cupel::rehearsal
