#include "orchestrator/controller/boot_servers.h"

#include <fmt/format.h>

namespace cupel::controller {
namespace {

std::string_view difference(const netboot::BootServerOptions& one,
                            const netboot::BootServerOptions& other) {
  if (one.machines != other.machines) return "nodes, serial numbers or MAC addresses";
  if (one.folder != other.folder) return "folder of images";
  if (one.certificate != other.certificate || one.key != other.key) return "certificate";
  if (one.uplink != other.uplink || one.per_rack != other.per_rack) return "limits of its uplinks";
  return {};
}

}  // namespace

Result<std::shared_ptr<netboot::BootService>> BootServers::at(asio::any_io_executor executor,
                                                              netboot::BootServerOptions options) {
  auto& running = running_[options.endpoint];
  auto service = running.service.lock();
  if (service) {
    const auto differs = difference(running.options, options);
    if (differs.empty()) return service;
    return Error{Code::kConflict,
                 fmt::format("another run boots machines from {}, and the inventory has another "
                             "{} since it began: start this one again when that has ended",
                             service->url(), differs)};
  }
  running.options = options;
  TRY(service, netboot::BootService::start(std::move(executor), std::move(options)));
  running.service = service;
  return service;
}

}  // namespace cupel::controller
