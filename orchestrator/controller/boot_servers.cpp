#include "orchestrator/controller/boot_servers.h"

#include <fmt/format.h>

#include "base/log.h"

namespace cupel::controller {
namespace {

/// Neither what a machine reports every second, nor what was refused for its rate.
bool is_worth_a_line(const netboot::BootAccess& access) {
  constexpr int kNoContent = 204, kTooMany = 429;
  return access.status != kTooMany && !(access.file == "progress" && access.status == kNoContent);
}

void log_access(const netboot::BootAccess& access) {
  if (!is_worth_a_line(access)) return;
  const bool broke_off = !access.whole && access.method != "HEAD";
  log::info({.node = access.node}, "boot-request",
            fmt::format("{} {} {}: {}, {} bytes in {} ms{}{}{}", access.peer, access.method,
                        access.file.empty() ? "-" : access.file, access.status, access.bytes,
                        access.took.count(), broke_off ? ", broken off" : "",
                        access.note.empty() ? "" : ": ", access.note));
}

std::string_view difference(const netboot::BootServerOptions& one,
                            const netboot::BootServerOptions& other) {
  if (one.machines != other.machines) return "nodes, serial numbers or MAC addresses";
  if (one.folder != other.folder) return "folder of images";
  if (one.certificate_file != other.certificate_file ||
      one.certificate.empty() != other.certificate.empty())
    return "certificate";
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
    if (differs.empty()) {
      TRY(renew_certificate(options.endpoint, options.certificate, options.key));
      return service;
    }
    return Error{Code::kConflict,
                 fmt::format("another run boots machines from {}, and the inventory has another "
                             "{} since it began: start this one again when that has ended",
                             service->url(), differs)};
  }
  running.options = options;
  TRY(service, netboot::BootService::start(std::move(executor), std::move(options), log_access));
  running.service = service;
  return service;
}

Result<void> BootServers::renew_certificate(const asio::ip::tcp::endpoint& endpoint,
                                            const std::string& certificate,
                                            const std::string& key) {
  auto& running = running_[endpoint];
  const auto service = running.service.lock();
  if (!service || running.options.certificate == certificate) return ok();
  TRY(service->renew_certificate(certificate, key));
  running.options.certificate = certificate;
  running.options.key = key;
  return ok();
}

}  // namespace cupel::controller
