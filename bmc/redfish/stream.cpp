// What the transport reads piece by piece: a stream of events for as long as it lasts, a file; and
// the certificate that whoever is there presents.
#include "base/text.h"
#include "bmc/redfish/request_secrets.h"
#include "bmc/redfish/transport_state.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {

using namespace std::chrono_literals;

enum class Transport::Carries { events, file };

/// Keeps the parts of the transport alive that its transfer needs.
class Transport::Streaming final : public Stream {
 public:
  Streaming(std::shared_ptr<Impl> impl, BmcLimits& bmc_limits, Carries what)
      : impl_{std::move(impl)},
        bmc_limits_{bmc_limits},
        is_file_{what == Carries::file},
        transfer{impl_->executor} {
    transfer.streaming = true;
    transfer.is_file = is_file_;
  }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;
  ~Streaming() override {
    if (transfer.easy != nullptr) impl_->streams.end(transfer);
  }

  Task<Result<std::string>> read(Deadline deadline) override {
    for (;;) {
      if (auto bytes = is_file_ ? all() : whole_lines(); !bytes.empty()) {
        if (transfer.paused) impl_->streams.resume(transfer);
        if (is_file_) co_return bytes;
        co_return bmc_limits_.secrets.scrubbed(std::move(bytes), SentSecrets::In::document);
      }
      if (transfer.done && is_file_) co_return file_ended();
      if (transfer.done) co_return Error{Code::kUnreachable, "the stream of events ended"};
      CO_TRY(co_await news(deadline));
    }
  }

  int status() const override { return transfer.response.status; }

  /// Returns when curl has said anything.
  Task<Result<void>> news(Deadline deadline) {
    const bool stopped = co_await cancelled();
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    transfer.wake.expires_at(deadline.when());
    const auto [woken] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!woken) co_return Error{Code::kTimeout, "nothing came in time"};
    const bool by_caller = co_await cancelled();
    if (by_caller) co_return Error{Code::kCancelled, "stopped"};
    co_return ok();
  }

 private:
  /// What came up to the last line's end: a secret that is to be found must not be parted. All of
  /// it where no more comes.
  std::string whole_lines() {
    auto& body = transfer.response.body;
    const auto end = transfer.paused || transfer.done ? body.npos : body.find_last_of("\r\n");
    const bool none = end == body.npos && !transfer.paused && !transfer.done;
    if (none) return {};
    std::string bytes = body.substr(0, end == body.npos ? end : end + 1);
    body.erase(0, bytes.size());
    return bytes;
  }

  std::string all() { return std::exchange(transfer.response.body, {}); }

  Result<std::string> file_ended() const {
    if (transfer.outcome == CURLE_OK) return std::string{};
    return failure_of(transfer);
  }

  std::shared_ptr<Impl> impl_;
  BmcLimits& bmc_limits_;
  bool is_file_;

 public:
  Transfer transfer;
};

Task<Result<std::unique_ptr<Stream>>> Transport::open_stream(Peer peer, Request request,
                                                             std::string type, Deadline deadline) {
  return opened(std::move(peer), std::move(request), Carries::events, std::move(type), deadline);
}

Task<Result<std::unique_ptr<Stream>>> Transport::open_file(Peer peer, Request request,
                                                           Deadline deadline) {
  return opened(std::move(peer), std::move(request), Carries::file, {}, deadline);
}

Task<Result<std::unique_ptr<Stream>>> Transport::opened(Peer peer, Request request, Carries what,
                                                        std::string type, Deadline deadline) {
  const auto impl = impl_;
  const std::string attempt = peer.node + ": GET " + printable(request.path);
  CO_TRY(impl->claim(peer));
  CO_TRY(const std::string path, url_path(request.path));
  BmcLimits& bmc_limits = impl->all_bmc_limits.of(peer.bmc(), impl->limits.requests_per_bmc);
  learn(bmc_limits.secrets, request);
  auto stream = std::make_unique<Streaming>(impl, bmc_limits, what);
  Transfer& transfer = stream->transfer;
  impl->streams.equip(transfer, "https://" + to_string(peer.endpoint) + path);
  Host& host = impl->host(peer.endpoint);
  CO_TRY(impl->trust(peer, host, transfer, !request.basic));
  impl->prepare(transfer, request, true, deadline);
  impl->streams.start(transfer);
  while (!transfer.head_came && !transfer.done) {
    auto news = co_await stream->news(deadline);
    if (!news) co_return std::move(news).error().within(attempt);
  }
  if (!transfer.head_came) {
    auto failure = scrubbed(bmc_limits.secrets, impl->concluded(peer, host, transfer));
    if (failure) co_return Error{Code::kMalformed, attempt + ": no answer"};
    co_return std::move(failure).error().within(attempt);
  }
  const auto& head = transfer.response;
  if (what == Carries::file) co_return std::unique_ptr<Stream>{std::move(stream)};
  if (head.status != 200 || !lower_case(head.content_type).starts_with(type))
    co_return Error{Code::kUnsupported,
                    attempt + ": HTTP " + std::to_string(head.status) + " and no stream of events"};
  co_return std::unique_ptr<Stream>{std::move(stream)};
}

Task<Result<std::string>> Transport::presented_certificate(inventory::Endpoint endpoint,
                                                           Deadline deadline) {
  const auto impl = impl_;
  Transfer transfer{impl->executor};
  PinCheck check{.only_looking = true};
  impl->loop.equip(transfer, "https://" + to_string(endpoint) + "/");
  set_pin(transfer, check, false, 0);
  impl->prepare(transfer, Request{}, true, deadline);
  curl_easy_setopt(transfer.easy, CURLOPT_CONNECT_ONLY, 1L);
  const OnTheWay guard{impl->loop, transfer};
  co_await Impl::wait_until_done(transfer, deadline, 0ms);
  if (!check.presented.empty()) co_return check.presented;
  if (transfer.outcome == CURLE_ABORTED_BY_CALLBACK)
    co_return Error{Code::kCancelled, "stopped before the certificate came"};
  co_return Error{code_of(transfer.outcome),
                  to_string(endpoint) + ": " + curl_easy_strerror(transfer.outcome)};
}

}  // namespace cupel::bmc::redfish
