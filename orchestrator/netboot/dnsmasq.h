#pragma once
// dnsmasq as a child of ours, in a temporary folder: started with a configuration of its own, and
// gone with it. DHCP and TFTP are never spoken by us.
#include <filesystem>
#include <functional>
#include <memory>

#include "base/task.h"
#include "orchestrator/netboot/dnsmasq_conf.h"

namespace cupel::netboot {

class Dnsmasq {
 public:
  /// Makes the folder, with copies of those iPXE programs that `programs` has: nothing else is
  /// served by TFTP. Errors: kStorage; kInvalid (the interface is not there, or has not the
  /// server's address; as dnsmasq_conf()).
  static Result<Dnsmasq> prepare(DhcpConf conf, std::span<const DhcpNode> nodes,
                                 const std::filesystem::path& programs);
  Dnsmasq(Dnsmasq&&) = default;
  Dnsmasq& operator=(Dnsmasq&&) = delete;
  /// Removes the folder.
  ~Dnsmasq();

  /// Until it is cancelled; then dnsmasq has ended. `heard` gets each line of its log. Errors:
  /// kCancelled; kNotFound (it is not installed); kFailed (it ended by itself, with its last
  /// words).
  Task<Result<void>> run(std::function<void(std::string_view line)> heard);

 private:
  explicit Dnsmasq(std::string folder);

  std::unique_ptr<const std::string> folder_;  // nothing: moved from
};

/// Those of tftp_programs() that are files of `folder`.
std::vector<std::string> programs_in(const std::filesystem::path& folder);

}  // namespace cupel::netboot
