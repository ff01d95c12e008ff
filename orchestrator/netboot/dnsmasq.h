#pragma once
// dnsmasq as a child of ours: started with a configuration of its own, told what has changed, and
// gone when we are. DHCP and TFTP are never spoken by us.
#include "base/task.h"
#include "orchestrator/netboot/dnsmasq_conf.h"

namespace cupel::netboot {

class Dnsmasq {
 public:
  /// `conf.state_folder` is made, for us alone. Errors: kStorage, kInvalid.
  static Result<Dnsmasq> prepare(DhcpConf conf, const std::vector<DhcpNode>& nodes);

  /// Until it is cancelled; then dnsmasq has ended. Errors: kCancelled; kNotFound (it is not
  /// installed); kFailed (it ended by itself, with its words).
  Task<Result<void>> run();

  /// Nodes are answered as these say from now on. Errors: kInvalid, kStorage; kUnsupported: a proxy
  /// must be started again.
  Result<void> update(const std::vector<DhcpNode>& nodes);

 private:
  explicit Dnsmasq(DhcpConf conf) : conf_{std::move(conf)} {}
  std::string path(std::string_view name) const;
  Result<void> write(const std::vector<DhcpNode>& nodes) const;

  DhcpConf conf_;
};

}  // namespace cupel::netboot
