#include "orchestrator/controller/firmware_images.h"

#include <algorithm>

#include "base/wall_clock.h"

namespace cupel::controller {
namespace {

/// Longer than any BMC takes to fetch an image.
constexpr std::chrono::hours kUrlLives{2};

constexpr std::string_view kCopies = "served";  // folder of the state

/// BMCs go by the end of a name; what an URL had better not have becomes a dash.
std::string plain_name(std::string name) {
  std::ranges::replace_if(
      name,
      [](unsigned char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && !(c >= '0' && c <= '9') && c != '.' && c != '_';
      },
      '-');
  if (name.empty() || name.front() == '.') name.insert(0, "image");
  return name.size() <= 100 ? name : name.substr(name.size() - 100);
}

}  // namespace

Task<Result<bmc::UpdateOrder>> FirmwareImages::order(firmware::FirmwareUpdate update,
                                                     bmc::Identity machine, Deadline deadline) {
  const auto now = seconds_now();
  co_return co_await checker_.check(std::move(update), std::move(machine), now, deadline);
}

Task<Result<std::shared_ptr<const std::string>>> FirmwareImages::whole(std::string file,
                                                                       std::string sha256,
                                                                       Deadline deadline) {
  co_return co_await checker_.whole(std::move(file), std::move(sha256), deadline);
}

void FirmwareImages::serve_no_more(const std::string& url) {
  if (server_) server_->revoke(url);
}

Result<void> FirmwareImages::start_server() {
  if (server_) return ok();
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(trust_->serve->host, bad);
  if (bad)
    return Error{Code::kInvalid,
                 "firmware: serve: " + trust_->serve->host + " is no address of this machine"};
  images::ImageServerOptions options{.endpoint = {address, trust_->serve->port}};
  // All BMCs of a virtual rack have this one address.
  if (address.is_loopback()) options.connections_per_peer = 0;
  TRY(server_, images::ImageServer::start(executor_, std::move(options)));
  return ok();
}

Task<Result<std::string>> FirmwareImages::serve(bmc::UpdateOrder order, Deadline deadline) {
  CO_TRY(start_server());
  CO_TRY(auto copy, co_await checker_.copy(order.file, order.sha256, state_ / kCopies, deadline));
  co_return server_->grant({.file = order.file,
                            .opened = std::move(copy),
                            .name = plain_name(order.name),
                            .lifetime = kUrlLives});
}

}  // namespace cupel::controller
