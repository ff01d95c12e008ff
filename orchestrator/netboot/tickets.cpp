#include "orchestrator/netboot/tickets.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace cupel::netboot {
namespace {

using images::HttpAnswer;
using images::HttpRequest;

constexpr std::size_t kToken = 32;
constexpr std::string_view kBoot = "/boot/", kHome = "/home/", kDhcp = "/dhcp/";
constexpr std::chrono::hours kRemembered{1};  // how long a late machine is informed that it is late

bool is_token(std::string_view text) {
  return text.size() == kToken &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct Path {
  bool home = false;
  std::string_view token{}, name{};  // no token: the one of the node that asks
};

/// "/boot/TOKEN/NAME", "/home/TOKEN", or what DHCP sends firmware to: "/dhcp/NAME".
std::optional<Path> parse_path(std::string_view target) {
  if (target.starts_with(kDhcp)) {
    const auto name = target.substr(kDhcp.size());
    const bool is_first = name == "ram.efi" || name == "boot.ipxe";
    return is_first ? std::optional{Path{.name = name}} : std::nullopt;
  }
  const bool home = target.starts_with(kHome);
  if (!home && !target.starts_with(kBoot)) return {};
  target.remove_prefix(kBoot.size());
  const auto token = target.substr(0, kToken);
  if (!is_token(token)) return {};
  target.remove_prefix(kToken);
  if (home) return target.empty() ? std::optional{Path{true, token, {}}} : std::nullopt;
  if (target.size() < 2 || target.front() != '/') return {};
  return Path{false, token, target.substr(1)};
}

}  // namespace

Tickets::Tickets(asio::any_io_executor executor, const BootServerOptions& options, Log log)
    : executor_{std::move(executor)},
      files_{options.folder},
      limits_{options.requests_per_second},
      machines_{options.machines},
      per_rack_{options.per_rack},
      neighbour_{options.neighbour},
      log_{std::move(log)} {
  if (options.uplink != 0) uplink_ = std::make_shared<images::Pace>(options.uplink);
}

Result<void> Tickets::open(const std::string& url, const Ticket& ticket, BootOrder order,
                           BootStage reached) {
  const auto home = url + std::string{kHome};
  const bool ours = is_token(ticket.token) &&
                    ticket.base_url == url + std::string{kBoot} + ticket.token + "/" &&
                    ticket.home_url.starts_with(home) &&
                    is_token(std::string_view{ticket.home_url}.substr(home.size()));
  if (!ours)
    return Error{Code::kConflict, order.machine.node +
                                      ": the boot ticket was issued by a boot server at another "
                                      "address; this one is at " +
                                      url};
  TRY(auto files, within(order.machine.node, open_files(files_, ticket, order)));
  auto opened =
      std::make_shared<OpenTicket>(executor_, ticket, std::move(order), std::move(files), reached);
  const std::scoped_lock lock{mutex_};
  forget_old();
  if (by_token_.size() >= kMost)
    return Error{Code::kConflict, "too many boot tickets are open: " + std::to_string(kMost)};
  if (by_token_.contains(ticket.token))
    return Error{Code::kConflict, "the boot ticket is open already"};
  TRY(add_by_dhcp(opened));
  by_token_.emplace(ticket.token, opened);
  by_home_.emplace(ticket.home_url.substr(home.size()), std::move(opened));
  return ok();
}

/// A node's new ticket takes the place of its old one.
Result<void> Tickets::add_by_dhcp(const Ptr& ticket) {
  const auto& order = ticket->order;
  if (!order.by_dhcp) return ok();
  std::vector<std::string> keys;
  for (const auto& written : order.machine.macs)
    if (auto mac = normalized_mac(written)) keys.push_back(*std::move(mac));
  if (!order.address.empty()) keys.push_back(order.address);
  for (const auto& key : keys) {
    const auto at = by_dhcp_.find(key);
    if (at == by_dhcp_.end() || at->second->order.machine.node == order.machine.node) continue;
    return Error{Code::kConflict, order.machine.node + " and " + at->second->order.machine.node +
                                      " both have " + key + ": correct boot: in the inventory"};
  }
  for (auto& key : keys) by_dhcp_[std::move(key)] = ticket;
  return ok();
}

void Tickets::forget_old() {
  const auto old = OpenTicket::Clock::now() - kRemembered;
  const auto is_old = [&](const auto& entry) { return entry.second->until < old; };
  std::erase_if(by_token_, is_old);
  std::erase_if(by_home_, is_old);
  std::erase_if(by_dhcp_, is_old);
}

void Tickets::revoke(std::string_view token) {
  const auto ticket = find(token);
  if (!ticket) return;
  ticket->revoked = true;
  asio::post(executor_, [ticket] { ticket->bell.cancel(); });
  const std::scoped_lock lock{mutex_};
  by_token_.erase(ticket->ticket.token);
  const auto is_its = [&](const auto& entry) { return entry.second == ticket; };
  std::erase_if(by_home_, is_its);
  std::erase_if(by_dhcp_, is_its);
}

void Tickets::revoke_all() {
  const std::scoped_lock lock{mutex_};
  for (const auto& [token, ticket] : by_token_) {
    ticket->revoked = true;
    asio::post(executor_, [ticket] { ticket->bell.cancel(); });
  }
}

Tickets::Ptr Tickets::find(std::string_view token) {
  const std::scoped_lock lock{mutex_};
  const auto at = by_token_.find(token);
  return at == by_token_.end() ? nullptr : at->second;
}

Tickets::Ptr Tickets::find_home(std::string_view token) {
  const std::scoped_lock lock{mutex_};
  const auto at = by_home_.find(token);
  return at == by_home_.end() ? nullptr : at->second;
}

/// By what the kernel knows of the peer, never by what the peer says.
Tickets::Ptr Tickets::find_by_dhcp(const std::optional<std::string>& mac,
                                   const asio::ip::address& peer) {
  const std::scoped_lock lock{mutex_};
  const auto at = by_dhcp_.find(mac ? *mac : peer.to_string());
  return at == by_dhcp_.end() ? nullptr : at->second;
}

const ExpectedMachine* Tickets::machine_with(const std::string& mac) const {
  const auto has_it = [&](const ExpectedMachine& machine) {
    return std::ranges::any_of(
        machine.macs, [&](const std::string& each) { return normalized_mac(each) == mac; });
  };
  const auto found = std::ranges::find_if(machines_, has_it);
  return found == machines_.end() ? nullptr : &*found;
}

void Tickets::name_who_has_none(const std::optional<std::string>& mac, BootAccess& access) const {
  if (!mac) {
    access.note = "no boot ticket is open for this address, and its MAC address is not known here";
    return;
  }
  const auto* machine = machine_with(*mac);
  if (machine == nullptr) {
    access.note = "no node of the inventory has its MAC address " + *mac + " (boot: macs)";
    return;
  }
  access.node = machine->node;
  access.note = "no step boots this node by dhcp-http or pxe now";
}

void Tickets::note_no_handshake(const asio::ip::address& peer, const std::string& why) {
  // An alert is the machine's own. All else is a port scan, or a connection that broke.
  if (!log_ || !why.contains("alert") || !limits_.allow(peer)) return;
  BootAccess access{.peer = peer.to_string(), .method = "TLS"};
  const auto mac = neighbour_(peer);
  const auto* machine = mac ? machine_with(*mac) : nullptr;
  if (machine != nullptr) access.node = machine->node;
  access.note = "it rejects the certificate of boot: tls (" + why +
                "): look at its clock, at the certificate's end, and at the CA certificates that "
                "its firmware has";
  log_(std::move(access));
}

std::shared_ptr<images::Pace> Tickets::rack_pace(const std::string& rack) {
  const std::scoped_lock lock{mutex_};
  auto& pace = racks_[rack];
  if (!pace) pace = std::make_shared<images::Pace>(per_rack_);
  return pace;
}

HttpAnswer Tickets::content(const HttpRequest& request, BootAccess& access) {
  if (!limits_.allow(request.peer)) return {.status = 429, .close = true, .retry_after = 1};
  const auto path = parse_path(request.target);
  const bool by_dhcp = path && path->token.empty();
  const auto mac = by_dhcp ? neighbour_(request.peer) : std::nullopt;
  auto ticket = !path        ? nullptr
                : by_dhcp    ? find_by_dhcp(mac, request.peer)
                : path->home ? find_home(path->token)
                             : find(path->token);
  // A node that boots from the network first asks at each of its boots.
  if (!ticket && by_dhcp) {
    access.file = path->name;
    name_who_has_none(mac, access);
    return {.status = 404, .close = true};
  }
  if (!ticket) {
    limits_.count_guess(request.peer);
    return {.status = 404, .close = true};
  }
  const auto& order = ticket->order;
  if (order.peer && *order.peer != request.peer) return {.status = 404, .close = true};
  access.node = order.machine.node;
  if (path->home) {
    access.file = "home";
    return answer_home(ticket, request, machines_);
  }
  auto answer = by_dhcp ? answer_dhcp(ticket, path->name, request)
                        : answer_boot(ticket, path->name, request, machines_);
  if (answer.status != 404) access.file = path->name;
  if (!answer.ranges) return answer;
  if (per_rack_ != 0) answer.paces.push_back(rack_pace(order.machine.rack));
  if (uplink_) answer.paces.push_back(uplink_);
  return answer;
}

HttpAnswer Tickets::answer(const HttpRequest& request) {
  BootAccess access{.peer = request.peer.to_string(), .method = std::string{request.method}};
  auto answer = content(request, access);
  if (!log_) return answer;
  answer.sent = [reported = log_, access = std::move(access),
                 first = std::move(answer.sent)](const images::Sent& sent) mutable {
    if (first) first(sent);
    access.status = static_cast<int>(sent.status);
    access.bytes = sent.bytes;
    access.whole = sent.whole;
    access.took = sent.took;
    reported(std::move(access));
  };
  return answer;
}

}  // namespace cupel::netboot
