#pragma once
// What one BMC remembers that is not the machine's: users, log, settings of its own. Lives as long
// as the BMC, through its restarts.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/bmc/accounts.h"
#include "rehearsal/bmc/bios.h"
#include "rehearsal/bmc/boot_options.h"
#include "rehearsal/bmc/event_log.h"
#include "rehearsal/bmc/updates.h"
#include "rehearsal/node_spec.h"

namespace cupel::rehearsal {

struct Service {
  bool enabled = true;
  int port = 0;
};

struct Medium {
  std::string image{};  // URL; empty: the slot is empty
  std::optional<VirtualTime> stale_until{};
  bool write_protected = true;
};

/// A job of Dell's: it waits for the machine's next boot.
struct Job {
  std::string id;
  bool done = false;
};

/// An image that was pushed and waits to be installed (Dell).
struct StoredImage {
  ReceivedImage image{};
  std::string file_name{}, version{};
};

/// Diagnostic data that was asked for; its entry is there once it is collected.
struct Dump {
  int id = 0;
  const DumpRow* of = nullptr;
  std::string oem_type{};
  VirtualTime ends{0};
  double began = 0, ended = 0;  // by the BMC's clock
};

struct Subscription {
  std::string destination, context;
  std::string protocol{"Redfish"}, type{"RedfishEvent"};
};

struct BmcState {
  static constexpr std::size_t kMostSubscriptions = 8;
  static constexpr std::size_t kMostJobs = 32;
  static constexpr std::size_t kMostDumps = 10;

  const VendorBehavior& behavior;
  BmcSpec spec;
  BmcAccounts accounts;
  EventLog log{};
  Bios bios{behavior.vendor};
  FirmwareState firmware{};
  std::map<std::string, Service, std::less<>> services{
      {"HTTP", {true, 80}},  {"HTTPS", {true, 443}}, {"SSH", {true, 22}},
      {"IPMI", {true, 623}}, {"KVMIP", {true, 443}}, {"SNMP", {false, 161}},
      {"NTP", {false, 123}}, {"SSDP", {true, 1900}}, {"VirtualMedia", {true, 443}}};
  std::vector<std::string> ntp_servers{};
  double clock_ahead = 0;  // of the rack's, in seconds
  int offset_minutes = 0;  // of its time zone
  std::map<std::string, Medium> media{};
  std::vector<Job> jobs{};
  std::vector<Dump> dumps{};  // the oldest first
  std::map<std::string, Subscription> subscriptions{};
  const UpdateBehavior& update_behavior;
  Updates updates;
  std::map<std::string, StoredImage> stored_images{};  // by id in the inventory
  std::vector<std::string> push_targets{};             // components
  bool push_claimed = false, push_forced = false;
  int next_id = 1;
};

}  // namespace cupel::rehearsal
