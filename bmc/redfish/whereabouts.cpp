#include "bmc/redfish/whereabouts.h"

#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/redfish/machine.h"
#include "bmc/redfish/refusals.h"
#include "inventory/read_bmc.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kAtOnce = 64;
constexpr auto kLook = 3s;             // at one address
constexpr std::size_t kMostAlike = 4;  // that are asked who they are

/// The client's errors name the node.
Error stranger_error(const std::string& node, std::string why) {
  return Error{Code::kUntrusted,
               node + ": identity mismatch: another machine answers at the BMC's address: " +
                   std::move(why) + "; if this was meant, run: cupel bmc " + node +
                   " accept-certificate"};
}

}  // namespace

std::string service_uuid(const json::value& root) {
  const auto uuid = reported(root, "UUID");
  const bool blank = uuid.find_first_not_of("0-") == uuid.npos;
  return blank ? std::string{} : lower_case(uuid);
}

Whereabouts::Whereabouts(Transport& transport, Peer peer, std::string user, SecretSource password,
                         Expected expected)
    : transport_{transport},
      peer_{std::move(peer)},
      user_{std::move(user)},
      password_{std::move(password)},
      expected_{std::move(expected)} {}

KnownBmc Whereabouts::known() const {
  return transport_.all_bmc_limits().memory().known_bmc(peer_.node).value_or(KnownBmc{});
}

Peer Whereabouts::peer() const {
  Peer peer = peer_;
  if (const auto moved = known().moved_to) peer.endpoint = *moved;
  return peer;
}

ClientHooks Whereabouts::moments(Client& client) {
  return {.before_changes = [this, &client](Deadline deadline) { return check(client, deadline); },
          .root_read = [this](const json::value& root) { return check_root(root); },
          .lost =
              [this, &client](Error why, Deadline deadline) {
                return find(client.peer().endpoint, std::move(why), deadline);
              }};
}

Task<Result<void>> Whereabouts::check(Client& client, Deadline deadline) {
  Observed seen;
  Survey survey{client, deadline, seen};
  auto found = co_await find_machine(survey);
  // A BMC that still has its factory password shows nothing until it is changed, and takes nothing
  // else. Its certificate and its service root were looked at before.
  if (!found && says(found.error(), "PasswordChangeRequired")) co_return ok();
  CO_TRY(Machine machine, std::move(found));
  const Identity identity = co_await identify(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  const KnownBmc before = known();
  if (auto why = identity_mismatch(before, expected_.people, identity))
    co_return stranger_error(peer_.node, *std::move(why));
  const KnownBmc now = learned(before, identity);
  if (now != before) transport_.all_bmc_limits().memory().keep_known_bmc(peer_.node, now);
  co_return ok();
}

Result<void> Whereabouts::check_root(const json::value& root) {
  const auto uuid = service_uuid(root);
  KnownBmc before = known();
  if (uuid.empty() || uuid == before.service_uuid) return ok();
  if (!before.service_uuid.empty())
    return stranger_error(peer_.node,
                          "known by the service UUID " + before.service_uuid +
                              (before.serial.empty() ? "" : " (" + described(before) + ")") +
                              ", but what answers is " + uuid);
  before.service_uuid = uuid;
  transport_.all_bmc_limits().memory().keep_known_bmc(peer_.node, before);
  return ok();
}

/// Whoever presents the pinned certificate, in the order of the addresses.
Task<std::vector<inventory::Endpoint>> Whereabouts::alike(inventory::Endpoint lost, std::string pin,
                                                          std::vector<std::string> addresses,
                                                          Deadline deadline) {
  std::vector<inventory::Endpoint> places;
  if (peer_.endpoint != lost) places.push_back(peer_.endpoint);
  for (auto& address : addresses) {
    inventory::Endpoint place{std::move(address), peer_.endpoint.port};
    const auto owner = transport_.owner(place);
    const bool free = owner.empty() || owner == peer_.bmc();
    if (free && place != lost && place != peer_.endpoint) places.push_back(std::move(place));
  }
  const auto look = [this, deadline](const inventory::Endpoint& place) {
    return transport_.presented_certificate(place, deadline.sooner(kLook));
  };
  const auto presented = co_await for_each_of<std::string>(places, kAtOnce, look);
  std::vector<inventory::Endpoint> found;
  for (std::size_t i = 0; i < places.size() && found.size() < kMostAlike; ++i)
    if (presented[i] && *presented[i] == pin) found.push_back(places[i]);
  co_return found;
}

/// Whether the one at `place` tells what is known of ours.
Task<bool> Whereabouts::is_it(inventory::Endpoint place, Deadline deadline) {
  Peer there = peer_;
  there.endpoint = place;
  Client client{transport_, std::move(there), user_, password_};
  client.stand_apart();
  client.at({.root_read = [this](const json::value& root) { return check_root(root); }});
  const auto same = co_await check(client, deadline);
  co_await client.log_out();
  if (!same) transport_.disown(place);
  co_return same.has_value();
}

Task<Result<inventory::Endpoint>> Whereabouts::find(inventory::Endpoint lost, Error why,
                                                    Deadline deadline) {
  // A BMC that was there a moment ago has not moved: it is slow, or starts again.
  const bool was_there = transport_.handshakes(lost).full > 0;
  const bool nowhere_else = expected_.networks.empty() && peer_.endpoint == lost;
  if (nowhere_else || (was_there && why.code != Code::kUntrusted)) co_return why;
  const bool pinned =
      peer_.trust.kind == inventory::Trust::Kind::pinned && !peer_.trust.what.empty();
  const auto seen = peer_.known == nullptr ? std::nullopt : peer_.known->pinned(peer_.pin());
  if (peer_.trust.kind == inventory::Trust::Kind::ca || (!pinned && !seen)) co_return why;
  CO_TRY(auto addresses, inventory::hosts_in(expected_.networks));
  const std::string pin = pinned ? peer_.trust.what : *seen;
  const auto found = co_await alike(lost, pin, std::move(addresses), deadline);
  std::vector<inventory::Endpoint> same;
  for (const auto& place : found) {
    const bool ours = co_await is_it(place, deadline);
    if (ours) same.push_back(place);
  }
  if (same.size() > 1)
    co_return Error{Code::kUntrusted, peer_.node + ": its BMC is no longer at " + to_string(lost) +
                                          ", and several that could be it answer elsewhere, at " +
                                          to_string(same[0]) + " and " + to_string(same[1]) +
                                          ": name its serial number or MAC in the inventory"};
  if (same.empty()) {
    why.what += "; nor is it at another address of the BMC networks";
    co_return why;
  }
  KnownBmc now = known();
  now.moved_to = same.front() == peer_.endpoint ? std::nullopt : std::optional{same.front()};
  transport_.all_bmc_limits().memory().keep_known_bmc(peer_.node, now);
  co_return same.front();
}

}  // namespace cupel::bmc::redfish
