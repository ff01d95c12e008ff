#include "orchestrator/controller/firmware_images.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "orchestrator/controller/certificate_file.h"
#include "orchestrator/firmware/transfer.h"

namespace cupel::controller {
namespace {

/// Longer than any BMC takes to fetch an image.
constexpr std::chrono::hours kUrlLives{2};

constexpr std::string_view kCopies = "served";  // folder of the state

constexpr std::string_view kCertificate = "firmware: the certificate of serve:";

void warn_of_no_handshake(const asio::ip::address& peer, const std::string& why) {
  // An alert is the BMC's own. All else is a port scan, or a connection that broke.
  if (!why.contains("alert")) return;
  log::warning({}, "firmware-certificate-rejected",
               fmt::format("{} rejects the certificate of firmware: serve: ({}): give the BMC the "
                           "site's CA, or look at its clock and at the certificate's names and end",
                           peer.to_string(), printable(why)));
}

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
  images::ImageServerOptions options{.endpoint = {address, trust_->serve->port},
                                     .no_handshake = warn_of_no_handshake};
  // All BMCs of a virtual rack have this one address.
  if (address.is_loopback()) options.connections_per_peer = 0;
  if (!trust_->certificate.empty()) {
    TRY(options.certificate,
        within(kCertificate, valid_certificate(trust_->certificate, seconds_now())));
    TRY(options.key, certificate_key(trust_->certificate_key));
  }
  auto certificate = options.certificate;
  TRY(server_, images::ImageServer::start(executor_, std::move(options)));
  certificate_ = std::move(certificate);
  return ok();
}

/// What is served over HTTPS from now on is shown the certificate that the file has by now.
Result<void> FirmwareImages::renew_certificate() {
  TRY(auto pem, within(kCertificate, valid_certificate(trust_->certificate, seconds_now())));
  if (pem == certificate_) return ok();
  TRY(const auto key, certificate_key(trust_->certificate_key));
  TRY(server_->renew_certificate(pem, key));
  certificate_ = std::move(pem);
  return ok();
}

Task<Result<std::string>> FirmwareImages::serve(bmc::UpdateOrder order,
                                                std::vector<std::string> fetches_by,
                                                Deadline deadline) {
  CO_TRY(const auto transfer, firmware::transfer_for(*trust_, fetches_by));
  CO_TRY(start_server());
  const bool plain = transfer == firmware::Transfer::http;
  if (!plain) {
    CO_TRY(renew_certificate());
  }
  CO_TRY(auto copy, co_await checker_.copy(order.file, order.sha256, state_ / kCopies, deadline));
  co_return server_->grant({.file = order.file,
                            .opened = std::move(copy),
                            .name = plain_name(order.name),
                            .lifetime = kUrlLives,
                            .plain = plain});
}

}  // namespace cupel::controller
