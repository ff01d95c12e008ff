#include "bmc/redfish/transport.h"

#include "base/text.h"
#include "bmc/advice.h"
#include "bmc/redfish/inflate.h"
#include "bmc/redfish/request_secrets.h"
#include "bmc/redfish/transport_state.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::patch:
      return "PATCH";
    case Method::remove:
      return "DELETE";
  }
  __builtin_unreachable();
}

namespace {

using namespace std::chrono_literals;
constexpr auto kConnectPatience = 15s;
constexpr auto kLongestRetryAfter = 1h;

/// One transfer of which nobody knows yet whether it keeps its connection.
class Undecided {
 public:
  explicit Undecided(Host& host) : host_{&host} { ++host.undecided; }
  Undecided(const Undecided&) = delete;
  Undecided& operator=(const Undecided&) = delete;
  ~Undecided() { decide(); }
  void decide() {
    if (auto* host = std::exchange(host_, nullptr)) --host->undecided;
  }

 private:
  Host* host_;
};

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Another pin than before: what was made under the old one is of no use any more.
void expect(Host& host, std::string fingerprint) {
  if (!host.check.expected.empty() && host.check.expected != fingerprint) {
    ++host.generation;
    host.check.forget_sessions();
  }
  host.check.expected = std::move(fingerprint);
}

/// Whether all that is missing of an answer is the end of its error's text: the status says enough.
bool is_refusal_cut_off(CURLcode how, long status) {
  return status >= 400 && (how == CURLE_PARTIAL_FILE || connection_broke(how));
}

/// A compressed body becomes its text. Where an error's cannot be read, its status still counts.
Result<void> decompress(Transfer& transfer) {
  auto& response = transfer.response;
  if (!is_compressed(response.body)) return ok();
  auto text = inflated(response.body, transfer.limit);
  if (!text && response.status < 300) return std::move(text).error();
  response.body = text ? *std::move(text) : std::string{};
  if (transfer.held.grow(response.body.size())) return ok();
  return Error{Code::kMalformed, "this BMC's answers take more memory than one BMC may"};
}

Error changed_certificate(const Peer& peer, const PinCheck& check) {
  if (peer.trust.kind == inventory::Trust::Kind::pinned)
    return Error{Code::kUntrusted, "the certificate is " + check.presented +
                                       ", the inventory says " + check.expected +
                                       "; if this was meant, write the new one into the inventory"};
  // A tray that is a node has the node's pin.
  const auto& name = is_of_rack(peer.node) ? peer.bmc() : peer.node;
  return Error{Code::kUntrusted, "the certificate is not the one that was pinned: pinned " +
                                     check.expected + ", presented " + check.presented +
                                     "; if this was meant, " +
                                     advice_to_accept(name, check.presented)};
}

}  // namespace

Outcome outcome_of(const Result<Response>& answer, CURLcode how) {
  if (answer) {
    const int status = answer->status;
    if (status == 401) return Outcome::refused;
    if (status == 503 || status == 429) return Outcome::busy;
    return status >= 500 ? Outcome::server_error : Outcome::answered;
  }
  if (connection_broke(how)) return Outcome::reset;
  if (answer.error().code == Code::kTimeout) return Outcome::timeout;
  return answer.error().code == Code::kMalformed ? Outcome::malformed : Outcome::unreachable;
}

Result<void> Transport::Impl::claim(const Peer& peer) {
  Host& found = host(peer.endpoint);
  if (found.node.empty()) found.node = peer.bmc();
  if (found.node == peer.bmc()) return ok();
  return Error{Code::kInvalid,
               to_string(peer.endpoint) + " is the BMC of " + found.node + " already"};
}

Result<void> Transport::Impl::trust(const Peer& peer, Host& host, Transfer& transfer,
                                    bool may_resume) {
  using Kind = inventory::Trust::Kind;
  if (!peer.certificate.empty()) {
    curl_easy_setopt(transfer.easy, CURLOPT_SSLCERT, peer.certificate.c_str());
    curl_easy_setopt(transfer.easy, CURLOPT_SSLKEY, peer.certificate_key.c_str());
  }
  if (peer.trust.kind == Kind::ca) {
    curl_easy_setopt(transfer.easy, CURLOPT_CAINFO, peer.trust.what.c_str());
    curl_easy_setopt(transfer.easy, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(transfer.easy, CURLOPT_SSL_VERIFYHOST, 2L);
    return ok();
  }
  const bool by_inventory = peer.trust.kind == Kind::pinned && !peer.trust.what.empty();
  if (by_inventory) {
    constexpr std::string_view kPrefix = "SHA256:";
    if (!peer.trust.what.starts_with(kPrefix))
      return Error{Code::kInvalid, "a pin looks like SHA256:<64 digits>, not " + peer.trust.what};
    expect(host, std::string{kPrefix} + lower_case(peer.trust.what.substr(kPrefix.size())));
  } else {
    if (peer.known == nullptr) return Error{Code::kInvalid, "nowhere to keep the certificate"};
    auto pin = peer.known->pinned(peer.pin());
    if (!pin && peer.trust.kind == Kind::pinned)
      return Error{Code::kUntrusted,
                   "no certificate is pinned yet, and the inventory takes none at first sight "
                   "(tls: {trust: known}); run: cupel bmc pins import FILE"};
    if (pin) expect(host, *std::move(pin));
  }
  set_pin(transfer, host.check, may_resume, host.generation);
  return ok();
}

void Transport::Impl::prepare(Transfer& transfer, const Request& request, bool fresh,
                              Deadline deadline) const {
  CURL* easy = transfer.easy;
  transfer.limit = request.long_answer ? limits.log_bytes : limits.response_bytes;
  const auto left = std::max<std::chrono::milliseconds>(deadline.left() + request.grace, 1ms);
  curl_easy_setopt(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min<std::chrono::milliseconds>(left, kConnectPatience).count()));
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
  // What acts goes out on a connection of its own, which is not kept beside the others: an idle one
  // takes some 40 KiB here, and a place there.
  const bool acts = request.method == Method::post || request.method == Method::patch;
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, request.close_after || acts ? 1L : 0L);
  if (request.close_after)
    transfer.headers = curl_slist_append(transfer.headers, "Connection: close");
  // A compressed answer has a weak ETag, which If-Match may not name (RFC 9110, 8.8.3.3).
  const char* type = transfer.is_file     ? "Accept: */*"
                     : transfer.streaming ? "Accept: text/event-stream"
                                          : "Accept: application/json";
  for (const char* line : {type, "Accept-Encoding: identity", "OData-Version: 4.0", "Expect:"})
    transfer.headers = curl_slist_append(transfer.headers, line);
  for (const auto& line : request.headers)
    transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  if (request.method == Method::post || request.method == Method::patch) {
    const auto content = "Content-Type: " + request.content_type;
    transfer.headers = curl_slist_append(transfer.headers, content.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
  }
  if (request.method == Method::patch) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PATCH");
  if (request.method == Method::remove) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
  if (request.basic) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_USERNAME, request.basic->user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, request.basic->password.c_str());
  }
}

/// Ends with transfer.done, or with `outcome` saying why not: timed out, or aborted by our caller.
Task<void> Transport::Impl::wait_until_done(Transfer& transfer, Deadline deadline,
                                            std::chrono::milliseconds grace) {
  transfer.wake.expires_at(deadline.when());
  while (!transfer.done) {
    const auto [stopped] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    if (transfer.done) co_return;
    transfer.outcome = stopped ? CURLE_ABORTED_BY_CALLBACK : CURLE_OPERATION_TIMEDOUT;
    if (!stopped || grace == 0ms) co_return;
    transfer.wake.expires_after(std::exchange(grace, 0ms));
  }
}

Result<Response> Transport::Impl::concluded(const Peer& peer, Host& host, Transfer& transfer) {
  const bool pinning = peer.trust.kind == inventory::Trust::Kind::first_use;
  curl_off_t handshake = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_APPCONNECT_TIME_T, &handshake);
  const bool unknown = pinning && !peer.known->pinned(peer.pin());
  if (unknown && handshake > 0 && !host.check.presented.empty())
    peer.known->pin(peer.pin(), host.check.presented);
  if (unknown && handshake == 0 && transfer.outcome != CURLE_OK) host.check.expected.clear();

  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  if (transfer.outcome == CURLE_OK || is_refusal_cut_off(transfer.outcome, status)) {
    curl_off_t patience = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &patience);
    transfer.response.status = static_cast<int>(status);
    transfer.response.retry_after = std::clamp<std::chrono::milliseconds>(
        std::chrono::seconds{patience}, 0ms, kLongestRetryAfter);
    TRY(decompress(transfer));
    return std::move(transfer.response);
  }
  // Whoever comes back after this may be somebody else: it is to show its certificate.
  host.check.forget_sessions();
  if (transfer.outcome == CURLE_ABORTED_BY_CALLBACK)
    return Error{Code::kCancelled, "stopped before the answer came"};
  if (transfer.no_room)
    return Error{Code::kMalformed, "this BMC's answers take more memory than one BMC may"};
  if (transfer.too_large)
    return Error{Code::kMalformed,
                 "an answer of more than " + std::to_string(transfer.limit) + " bytes"};
  const bool by_pin = peer.trust.kind != inventory::Trust::Kind::ca;
  if (by_pin && handshake == 0 && host.check.refused) return changed_certificate(peer, host.check);
  return failure_of(transfer);
}

Task<Result<Response>> Transport::Impl::once(const Peer& peer, Host& host, const Request& request,
                                             const std::string& path, bool fresh, bool& was_kept,
                                             Deadline deadline) {
  const auto self = shared_from_this();  // the transport may go before its requests do
  BmcLimits& bmc_limits = all_bmc_limits.of(peer.bmc(), limits.requests_per_bmc);
  Transfer transfer{executor, bmc_limits.memory};
  loop.equip(transfer, "https://" + to_string(peer.endpoint) + path);
  // A password goes where a certificate was presented, and not where a session stood for it.
  const bool secret = request.secret || request.basic;
  if (secret && host.check.resumed > 0) fresh = true;
  if (auto trusted = trust(peer, host, transfer, !secret); !trusted) {
    loop.end(transfer);
    co_return std::move(trusted).error();
  }
  prepare(transfer, request, fresh, deadline);
  // One connection is kept for whoever comes later (some 40 KiB); another one only while somebody
  // waits for it, or will soon: it takes a TLS handshake to make. Of answers that come together
  // the last one keeps its own.
  Undecided fate{host};
  transfer.keeps = [&bmc_limits, &host, &fate] {
    fate.decide();
    return bmc_limits.long_reads > 0 || host.undecided == 0 || bmc_limits.at_once.waiting() > 0;
  };
  const auto begun = Deadline::Clock::now();
  const OnTheWay guard{loop, transfer};
  co_await wait_until_done(transfer, deadline, request.grace);
  long connects = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_NUM_CONNECTS, &connects);
  curl_off_t connected = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_CONNECT_TIME_T, &connected);
  const bool was_connected = connects == 0 || connected > 0;
  was_kept = connects == 0 && transfer.done && connection_broke(transfer.outcome);
  const auto bytes = transfer.response.body.size();
  auto answer = concluded(peer, host, transfer);
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(Deadline::Clock::now() - begun);
  const bool stopped = !answer && answer.error().code == Code::kCancelled;
  if (stopped) co_return answer;
  const auto outcome = outcome_of(answer, transfer.outcome);
  note(bmc_limits.seen, outcome, bytes, took);
  if (outcome == Outcome::timeout && was_connected)
    bmc_limits.silence.note(begun);
  else
    bmc_limits.silence = {};
  co_return answer;
}

/// One request with its redirects, and its one repetition where a kept connection was dead.
Task<Result<Response>> Transport::Impl::exchange(const Peer& peer, Host& host,
                                                 const Request& request, std::string path,
                                                 Deadline deadline) {
  // curl repeats what a dead kept connection swallowed, POST too: an action must never run twice.
  bool fresh = request.method == Method::post || request.method == Method::patch;
  bool may_repeat = request.method == Method::get;
  for (int redirects = 0;;) {
    CO_TRY(const std::string target, url_path(path));
    bool was_dead = false;
    auto answer = co_await once(peer, host, request, target, fresh, was_dead, deadline);
    if (!answer && was_dead && may_repeat) {
      ++all_bmc_limits.of(peer.bmc()).seen.retries;
      may_repeat = false;
      fresh = true;
      continue;
    }
    if (!answer || request.method != Method::get || !is_redirect(answer->status)) co_return answer;
    const auto next = path_on(peer.endpoint, answer->location);
    if (!next) co_return Error{Code::kMalformed, "a redirect that leads off the BMC"};
    if (++redirects > limits.redirects) co_return Error{Code::kMalformed, "too many redirects"};
    path = *next;
  }
}

Transport::Transport(asio::any_io_executor executor, Limits limits, Memory* memory) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  assert(ready == CURLE_OK);
  impl_ = std::make_shared<Impl>(std::move(executor), limits, memory);
}

// What memory there is may go before the last request does.
Transport::~Transport() { impl_->all_bmc_limits.keep(); }

Task<Result<Response>> Transport::send(Peer peer, Request request, Deadline deadline) {
  const auto impl = impl_;
  const std::string attempt =
      peer.node + ": " + std::string{to_string(request.method)} + " " + printable(request.path);
  if (auto ours = impl->claim(peer); !ours) co_return std::move(ours).error().within(attempt);
  BmcLimits& bmc_limits = impl->all_bmc_limits.of(peer.bmc(), impl->limits.requests_per_bmc);
  std::optional<Semaphore::Permit> slow;
  if (request.slow) {
    auto lane = co_await bmc_limits.slow.enter(deadline);
    if (!lane) co_return std::move(lane).error().within(attempt);
    slow.emplace(*std::move(lane));
  }
  auto pass = co_await bmc_limits.at_once.enter(deadline);
  if (!pass) co_return std::move(pass).error().within(attempt);
  Host& host = impl->host(peer.endpoint);
  learn(bmc_limits.secrets, request);
  auto answer = co_await impl->exchange(peer, host, request, request.path, deadline);
  answer = scrubbed(bmc_limits.secrets, std::move(answer));
  if (request.secret) overwrite(request.body);
  if (!answer) co_return std::move(answer).error().within(attempt);
  co_return answer;
}

AllBmcLimits& Transport::all_bmc_limits() { return impl_->all_bmc_limits; }

BmcLimits& Transport::bmc_limits(const std::string& node) {
  return impl_->all_bmc_limits.of(node, impl_->limits.requests_per_bmc);
}

std::optional<Budget> Transport::budget(const std::string& node) {
  return impl_->all_bmc_limits.budget(node);
}

Sessions& Transport::sessions(const std::string& node) { return impl_->sessions[node]; }

Handshakes Transport::handshakes(const inventory::Endpoint& endpoint) const {
  const auto known = impl_->hosts.find(endpoint);
  if (known == impl_->hosts.end()) return {};
  return {.full = known->second->check.handshakes, .resumed = known->second->check.resumed};
}

std::string Transport::owner(const inventory::Endpoint& endpoint) const {
  const auto known = impl_->hosts.find(endpoint);
  return known == impl_->hosts.end() ? std::string{} : known->second->node;
}

void Transport::disown(const inventory::Endpoint& endpoint) {
  Host& host = impl_->host(endpoint);
  host.node.clear();
  host.check.expected.clear();
  host.check.forget_sessions();
  ++host.generation;
}

}  // namespace cupel::bmc::redfish
