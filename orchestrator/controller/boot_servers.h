#pragma once
// The boot servers of all runs of a controller: runs whose inventories name one address share the
// server there, which ends with the last of them.
#include <map>
#include <memory>

#include "orchestrator/netboot/boot_service.h"

namespace cupel::controller {

class BootServers {
 public:
  /// What its machines fetch and report is logged by node, "boot-request". Errors: as
  /// BootService::start; kConflict where another run's serves there and the inventory
  /// has changed since: other machines, images, limits, or a certificate of another file. Another
  /// certificate of the same file is shown from now on, as by renew_certificate().
  Result<std::shared_ptr<netboot::BootService>> at(asio::any_io_executor executor,
                                                   netboot::BootServerOptions options);
  /// Of the server that was asked for at `endpoint`; nothing where it has ended. Errors: as
  /// BootService::renew_certificate.
  Result<void> renew_certificate(const asio::ip::tcp::endpoint& endpoint,
                                 const std::string& certificate, const std::string& key);

 private:
  struct Running {
    std::weak_ptr<netboot::BootService> service{};
    netboot::BootServerOptions options{};
  };
  std::map<asio::ip::tcp::endpoint, Running> running_{};
};

}  // namespace cupel::controller
