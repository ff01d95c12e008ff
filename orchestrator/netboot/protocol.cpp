#include "orchestrator/netboot/protocol.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/netboot/home_report.h"
#include "orchestrator/netboot/open_files.h"

namespace cupel::netboot {
namespace {

using images::HttpAnswer;
using images::HttpRequest;
using Open = std::shared_ptr<OpenTicket>;
using Kind = BootEvent::Kind;

constexpr unsigned kOk = 200, kNoContent = 204, kBad = 400, kForbidden = 403, kNotFound = 404,
                   kNotAllowed = 405, kGone = 410, kTooLarge = 413, kBusy = 503;
constexpr int kComeAgain = 2;  // seconds

HttpAnswer json_answer(unsigned status, const json::object& body) {
  return {.status = status, .type = "application/json", .body = {{.text = json::serialize(body)}}};
}

HttpAnswer refuse(const Open& ticket, const HttpRequest& request, unsigned status,
                  const Refusal& refusal) {
  (void)tell(ticket, {.kind = Kind::refused,
                      .body = {{"cause", refusal.cause}, {"text", refusal.text}},
                      .peer = request.peer.to_string()});
  const auto& text =
      refusal.tells_secrets ? refusal.cause + "; the controller's log has the rest" : refusal.text;
  return json_answer(status, {{"refused", text}, {"cause", refusal.cause}});
}

HttpAnswer busy() { return {.status = kBusy, .retry_after = kComeAgain}; }

Result<json::object> object_in(const HttpRequest& request) {
  TRY(auto value, parse_json(request.body));
  if (!value.is_object()) return Error{Code::kMalformed, "the body is no JSON object"};
  return std::move(value.as_object());
}

/// What holds for a hello and for the first report of what was installed.
std::optional<Refusal> stranger(const Open& ticket, const Identity& machine,
                                std::span<const ExpectedMachine> all) {
  const auto by_dhcp = [&] {
    const std::scoped_lock lock{ticket->mutex};
    return ticket->by_dhcp;
  }();
  if (auto refusal = mismatch(machine, ticket->order.machine, all, by_dhcp)) return refusal;
  const std::scoped_lock lock{ticket->mutex};
  if (!ticket->greeted || ticket->greeted->may_be(machine)) return {};
  const auto mac = ticket->greeted->shared_mac(machine);
  return Refusal{"other-machine",
                 fmt::format("{}: the ticket is in use by another machine (serial number {}){}",
                             ticket->order.machine.node, ticket->greeted->serial,
                             mac.empty() ? "" : "; both have the MAC address " + mac),
                 true};
}

/// Whether who reports from home is the machine: by a serial number or MAC address that the
/// inventory or its hello has, or by its address, which is that of the hello or the inventory's.
/// The URL alone proves nothing: it is in the machine's user data, and went over the network.
bool is_at_home(const Open& ticket, const Identity& machine, const asio::ip::address& peer) {
  if (is_named(machine, ticket->order.machine)) return true;
  boost::system::error_code none;
  const auto own = asio::ip::make_address(ticket->order.address, none);
  if (!none && own == peer) return true;
  const std::scoped_lock lock{ticket->mutex};
  if (!ticket->greeted) return false;
  const auto& hello = *ticket->greeted;
  const bool same_serial = !hello.serial.empty() && hello.serial == machine.serial;
  return ticket->greeted_from == peer || same_serial || !hello.shared_mac(machine).empty();
}

std::optional<Refusal> over(const Open& ticket) {
  const auto& node = ticket->order.machine.node;
  if (ticket->is_late())
    return Refusal{"late", fmt::format("{}: the boot ticket's {} s are over", node,
                                       ticket->order.lifetime.count())};
  const std::scoped_lock lock{ticket->mutex};
  if (ticket->stage == BootStage::issued) return {};
  return Refusal{"booted-again",
                 node +
                     ": it booted into the RAM system again after its image was written: its "
                     "BMC keeps the boot override, or its firmware ignores the new boot entry"};
}

HttpAnswer hello(const Open& ticket, const HttpRequest& request,
                 std::span<const ExpectedMachine> all) {
  auto body = object_in(request);
  if (!body) return refuse(ticket, request, kBad, {"malformed", body.error().what});
  auto machine = parse_identity(*body);
  if (!machine) return refuse(ticket, request, kBad, {"malformed", machine.error().what});
  if (const auto refusal = over(ticket)) return refuse(ticket, request, kForbidden, *refusal);
  if (const auto refusal = stranger(ticket, *machine, all))
    return refuse(ticket, request, kForbidden, *refusal);
  if (!tell(ticket,
            {.kind = Kind::hello, .body = *std::move(body), .peer = request.peer.to_string()}))
    return busy();
  const std::scoped_lock lock{ticket->mutex};
  ticket->greeted = *std::move(machine);
  ticket->greeted_from = request.peer;
  ticket->seeds_served.clear();
  return json_answer(kOk, ticket->order.order);
}

/// Nothing where the machine that said hello asks.
std::optional<HttpAnswer> not_greeted(const Open& ticket, const HttpRequest& request) {
  {
    const std::scoped_lock lock{ticket->mutex};
    if (ticket->greeted && ticket->greeted_from == request.peer) return {};
  }
  return refuse(ticket, request, kForbidden,
                {"no-hello", fmt::format("{}: {} has not said hello with this ticket",
                                         ticket->order.machine.node, request.peer.to_string())});
}

HttpAnswer seed(const Open& ticket, std::string_view name, const HttpRequest& request) {
  if (request.method != "GET") return {.status = kNotAllowed, .allow = "GET"};
  const auto at = ticket->order.seed.find(std::string{name});
  if (at == ticket->order.seed.end()) return {.status = kNotFound};
  if (ticket->is_late()) return refuse(ticket, request, kGone, *over(ticket));
  if (auto refused = not_greeted(ticket, request)) return *std::move(refused);
  const std::scoped_lock lock{ticket->mutex};
  if (ticket->stage != BootStage::issued) return {.status = kGone};
  if (!ticket->seeds_served.emplace(name).second) return {.status = kGone};
  return {.status = kOk,
          .type = "text/plain",
          .body = {{.text = at->second}},
          .sent = [ticket, name = std::string{name}](const images::Sent& sent) {
            if (sent.whole) return;
            const std::scoped_lock once{ticket->mutex};
            ticket->seeds_served.erase(name);
          }};
}

/// Counts a transfer for as long as its answer lives.
std::shared_ptr<void> counted(const Open& ticket) {
  ++ticket->transfers;
  return {nullptr, [ticket](void*) { --ticket->transfers; }};
}

HttpAnswer file(const Open& ticket, std::string_view name, const HttpRequest& request) {
  const auto at = ticket->files.find(name);
  if (at == ticket->files.end()) return {.status = kNotFound};
  if (request.method != "GET" && request.method != "HEAD")
    return {.status = kNotAllowed, .allow = "GET, HEAD"};
  if (ticket->is_late()) return refuse(ticket, request, kGone, *over(ticket));
  if (ticket->transfers >= OpenTicket::kMostTransfers) return busy();
  HttpAnswer answer{.status = kOk,
                    .type = media_type(name),
                    .body = at->second,
                    .ranges = true,
                    .is_over = [ticket] { return ticket->revoked || ticket->is_late(); }};
  if (request.method == "HEAD") return answer;
  answer.sent = [ticket, name = std::string{name}, peer = request.peer.to_string(),
                 transfer = counted(ticket)](const images::Sent& sent) {
    if (sent.bytes == 0) return;
    (void)tell(ticket, {.kind = Kind::fetched,
                        .peer = peer,
                        .file = name,
                        .bytes = sent.bytes,
                        .whole = sent.whole});
  };
  return answer;
}

HttpAnswer report(const Open& ticket, Kind kind, const HttpRequest& request) {
  if (kind == Kind::progress && request.body.size() > kMostProgress) return {.status = kTooLarge};
  auto body = object_in(request);
  if (!body) return json_answer(kBad, {{"refused", body.error().what}});
  if (auto refused = not_greeted(ticket, request)) return *std::move(refused);
  {
    const std::scoped_lock lock{ticket->mutex};
    // A machine that did not get the answer says it again.
    if (kind == Kind::done && ticket->stage != BootStage::issued) return {.status = kNoContent};
  }
  if (!tell(ticket, {.kind = kind, .body = *std::move(body), .peer = request.peer.to_string()}))
    return busy();
  const std::scoped_lock lock{ticket->mutex};
  if (kind == Kind::done) ticket->stage = BootStage::done;
  return {.status = kNoContent};
}

struct Post {
  std::string_view name;
  Kind kind;
};
constexpr Post kPosts[]{{"hello", Kind::hello},
                        {"progress", Kind::progress},
                        {"done", Kind::done},
                        {"failed", Kind::failed}};

}  // namespace

HttpAnswer answer_boot(const Open& ticket, std::string_view name, const HttpRequest& request,
                       std::span<const ExpectedMachine> all) {
  constexpr std::string_view kSeed = "seed/";
  if (name.starts_with(kSeed)) return seed(ticket, name.substr(kSeed.size()), request);
  for (const auto& [posted, kind] : kPosts) {
    if (name != posted) continue;
    if (request.method != "POST") return {.status = kNotAllowed, .allow = "POST"};
    return kind == Kind::hello ? hello(ticket, request, all) : report(ticket, kind, request);
  }
  return file(ticket, name, request);
}

HttpAnswer answer_dhcp(const Open& ticket, std::string_view name, const HttpRequest& request) {
  {
    const std::scoped_lock lock{ticket->mutex};
    if (ticket->greeted || ticket->stage != BootStage::issued) return {.status = kGone};
    ticket->by_dhcp = true;
  }
  if (name == "ram.efi" && ticket->files.contains(name) && !carries_ticket(ticket->files))
    return refuse(ticket, request, kForbidden,
                  {"signed", ticket->order.machine.node +
                                 ": a signed RAM system cannot get its ticket by DHCP: boot it by "
                                 "http or media"});
  return file(ticket, name, request);
}

HttpAnswer answer_home(const Open& ticket, const HttpRequest& request,
                       std::span<const ExpectedMachine> all) {
  if (request.method != "POST") return {.status = kNotAllowed, .allow = "POST"};
  auto body = parse_home_report(request.body);
  if (!body) return refuse(ticket, request, kBad, {"malformed", body.error().what});
  const auto machine = parse_identity(*body);
  if (!machine) return refuse(ticket, request, kBad, {"malformed", machine.error().what});
  if (ticket->is_late()) return refuse(ticket, request, kGone, *over(ticket));
  // A form says nothing of the machine.
  const bool says_who = !machine->serial.empty() || !machine->macs.empty();
  if (const auto refusal = says_who ? stranger(ticket, *machine, all) : std::nullopt)
    return refuse(ticket, request, kForbidden, *refusal);
  if (!is_at_home(ticket, *machine, request.peer))
    return refuse(ticket, request, kForbidden,
                  {"unproven",
                   fmt::format("{}: {} reports a new system without a serial number or MAC address "
                               "of the machine, and from another address",
                               ticket->order.machine.node, request.peer.to_string())});
  {
    const std::scoped_lock lock{ticket->mutex};
    if (ticket->stage == BootStage::home) return {.status = kGone};
    ticket->stage = BootStage::home;
  }
  if (tell(ticket,
           {.kind = Kind::home, .body = *std::move(body), .peer = request.peer.to_string()}))
    return {.status = kNoContent};
  const std::scoped_lock lock{ticket->mutex};
  ticket->stage = BootStage::done;
  return busy();
}

}  // namespace cupel::netboot
