#pragma once
// A virtual rack on a loop of this process, its inventory in a folder, and the cupel that was built
// beside it. The rack shares no code with what talks to it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rehearsal/virtual_rack.h"
#include "tests/e2e/site.h"

namespace cupel::testing {

/// What a virtual node takes for the program as whose file it was brought: an ELF file. The one
/// that this build made for nodes is 19 MB under AddressSanitizer, for each run to read and digest
/// and for each node to get.
inline constexpr const char* kVirtualProgram =
    "\x7f"
    "ELF of a virtual node";

class RackSite {
 public:
  struct Options {
    int nodes = 2;
    std::string bmcs = "vendor: dgx";  // as `bmcs:` of a rack's file
    int network = 70;                  // 127.NETWORK.1.x: racks of tests that run side by side
    std::string ports = "bmc: 0";      // as `ports:` of a rack's file; 0: any that is free
    std::string faults{};              // as items of `faults:`
    std::string rules{};               // as items of `rules:`
    double speed = 1000;
  };

  explicit RackSite(Options options);
  ~RackSite();
  RackSite(const RackSite&) = delete;
  RackSite& operator=(const RackSite&) = delete;

  /// The inventory as the rack tells it, with every `from` replaced by `to`. The test fails where
  /// it is not in there.
  void change_inventory(const std::string& from, const std::string& to);
  void write(const std::string& name, const std::string& text, int mode = 0600) const;

  /// The command line of cupel, with this site's state and, where `arguments` name none, programs
  /// for virtual nodes.
  std::vector<std::string> cupel(std::vector<std::string> arguments) const;
  Ran run(std::vector<std::string> arguments,
          std::chrono::seconds patience = std::chrono::seconds{60}) const;
  /// The objects of `--json`, one for each node.
  std::vector<json::object> ask(std::vector<std::string> arguments) const;

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  rehearsal::VirtualRack& rack() { return *rack_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<rehearsal::VirtualRack> rack_;
  std::string inventory_;
};

}  // namespace cupel::testing
