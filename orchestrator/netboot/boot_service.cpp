#include "orchestrator/netboot/boot_service.h"

#include <boost/asio/post.hpp>
#include <filesystem>

#include "base/digest.h"
#include "base/paths.h"
#include "orchestrator/images/http_server.h"
#include "orchestrator/netboot/tickets.h"

namespace cupel::netboot {
namespace {

constexpr std::size_t kTokenBytes = 16;  // 128 bits

images::HttpOptions http_options(const BootServerOptions& options) {
  return {.endpoint = options.endpoint,
          .host = options.host,
          .certificate = options.certificate,
          .key = options.key,
          .threads = options.threads,
          .connections = options.connections,
          .connections_per_peer = options.connections_per_peer,
          .body_limit = kMostBody,
          .head_patience = options.head_patience,
          .idle = options.idle};
}

/// From the server's threads onto the loop.
Tickets::Log on_loop(const asio::any_io_executor& executor, BootService::Log log) {
  if (!log) return {};
  return [executor, log = std::move(log)](BootAccess access) {
    asio::post(executor, [log, access = std::move(access)] { log(access); });
  };
}

}  // namespace

struct BootService::Impl {
  Impl(const asio::any_io_executor& executor, const BootServerOptions& options, Log log)
      : tickets{executor, options, on_loop(executor, std::move(log))} {}

  Tickets tickets;
  std::unique_ptr<images::HttpServer> server{};  // goes first
};

Result<std::unique_ptr<BootService>> BootService::start(asio::any_io_executor executor,
                                                        BootServerOptions options, Log log) {
  if (!is_folder(options.folder))
    return Error{Code::kInvalid, "boot server: no folder of images: '" + options.folder + "'"};
  auto impl = std::make_shared<Impl>(executor, options, std::move(log));
  const auto answering = [tickets = &impl->tickets](const images::HttpRequest& request) {
    return tickets->answer(request);
  };
  auto http = http_options(options);
  http.no_handshake = [tickets = &impl->tickets](const asio::ip::address& peer,
                                                 const std::string& why) {
    tickets->note_no_handshake(peer, why);
  };
  TRY(impl->server, images::HttpServer::start("boot server", std::move(http), answering));
  return std::unique_ptr<BootService>{new BootService{std::move(impl)}};
}

BootService::~BootService() { impl_->tickets.revoke_all(); }

Ticket BootService::draw() const {
  const auto token = random_hex(kTokenBytes);
  return {token, url() + "/boot/" + token + "/", url() + "/home/" + random_hex(kTokenBytes)};
}

Result<void> BootService::open(const Ticket& ticket, BootOrder order, BootStage reached) {
  return impl_->tickets.open(url(), ticket, std::move(order), reached);
}

Result<Ticket> BootService::issue(BootOrder order) {
  auto ticket = draw();
  TRY(open(ticket, std::move(order)));
  return ticket;
}

void BootService::revoke(const std::string& token) { impl_->tickets.revoke(token); }

Task<Result<BootEvent>> BootService::next(std::string token, Deadline deadline) {
  auto ticket = impl_->tickets.find(token);
  if (!ticket) co_return Error{Code::kNotFound, "no such boot ticket is open"};
  co_return co_await next_event(std::move(ticket), deadline);
}

Result<void> BootService::renew_certificate(const std::string& certificate,
                                            const std::string& key) {
  return impl_->server->renew_certificate(certificate, key);
}

const std::string& BootService::url() const { return impl_->server->url(); }

std::uint16_t BootService::port() const { return impl_->server->port(); }

}  // namespace cupel::netboot
