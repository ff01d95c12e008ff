#include "bmc/redfish/boot_order.h"

#include <algorithm>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostOptions = 128;

/// "Boot0019" of "Boot0019: Ubuntu", as a Vera Rubin writes it.
std::string reference_of(const std::string& reported) {
  return std::string{trimmed(std::string_view{reported}.substr(0, reported.find(':')))};
}

/// Errors: kMalformed for more than Cupel reads: of a part of the order no other one can be made.
Result<std::vector<std::string>> order_in(const json::value& body, const std::string& uri) {
  std::vector<std::string> order;
  const auto* list = find(body, "Boot/BootOrder");
  if (list == nullptr) return order;
  for (const auto& reported : texts_of(list)) order.push_back(reference_of(reported));
  if (order.size() <= kMostOptions) return order;
  return Error{Code::kMalformed, printable(uri) + ": a boot order of more than " +
                                     std::to_string(kMostOptions) +
                                     " options: too many to read. Remove those that no longer "
                                     "lead to a system, in the BIOS setup or by efibootmgr"};
}

/// Where the order is written.
struct Place {
  std::string uri{};
  Answer before{};
};

Task<Result<Place>> place_of(Client& client, Document system, Deadline deadline) {
  const auto settings = link_at(system.body, "@Redfish.Settings/SettingsObject");
  if (!settings.empty()) {
    auto there = co_await client.get_tagged(settings, deadline);
    if (there && find(there->body, "Boot/BootOrder") != nullptr)
      co_return Place{settings, *std::move(there)};
    if (!there && there.error().code != Code::kNotFound) co_return std::move(there).error();
  }
  if (find(system.body, "Boot/BootOrder") == nullptr)
    co_return Error{Code::kUnsupported, system.uri + " has no boot order"};
  Answer itself{.status = 200, .body = std::move(system.body)};
  itself.etag = text_at(itself.body, "@odata.etag").value_or("");
  co_return Place{system.uri, std::move(itself)};
}

/// What the machine has: options that cannot be read are known by their reference alone.
Task<Result<std::vector<BootOption>>> read_options(Client& client, const json::value& system,
                                                   Deadline deadline) {
  std::vector<BootOption> options;
  const auto uri = link_at(system, "Boot/BootOptions");
  const auto members = co_await member_uris(client, uri, kMostOptions, deadline);
  if (!members && members.error().code == Code::kNotFound) co_return options;
  if (!members) co_return members.error();
  for (const auto& member : *members) {
    const auto body = co_await client.get(member, deadline);
    if (!body && body.error().code == Code::kNotFound) continue;
    if (!body) co_return body.error();
    auto reference = reported(*body, "BootOptionReference");
    if (reference.empty()) reference = last_name(member);
    options.push_back({.reference = reference_of(reference),
                       .name = reported(*body, "DisplayName"),
                       .path = reported(*body, "UefiDevicePath"),
                       .alias = reported(*body, "Alias")});
  }
  co_return options;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + printable(word);
  return text;
}

Result<void> are_options(const std::vector<std::string>& requested,
                         const std::vector<std::string>& known, const std::string& uri) {
  std::vector<std::string> strange;
  for (const auto& one : requested)
    if (std::ranges::find(known, one) == known.end()) strange.push_back(one);
  if (strange.empty()) return ok();
  return Error{Code::kInvalid,
               uri + " has no boot option " + joined(strange) + "; it has " + joined(known)};
}

}  // namespace

Task<Result<BootOrder>> read_boot_order(Client& client, Document system, Deadline deadline) {
  BootOrder order;
  CO_TRY(order.current, order_in(system.body, system.uri));
  CO_TRY(order.options, co_await read_options(client, system.body, deadline));
  CO_TRY(const Place place, co_await place_of(client, std::move(system), deadline));
  CO_TRY(order.next, order_in(place.before.body, place.uri));
  if (order.current.empty()) order.current = order.next;
  co_return order;
}

Task<Result<void>> set_boot_order(Client& client, Document system,
                                  std::vector<std::string> references, Deadline deadline) {
  CO_TRY(const Place place, co_await place_of(client, std::move(system), deadline));
  CO_TRY(const auto before, order_in(place.before.body, place.uri));
  CO_TRY(are_options(references, before, place.uri));
  if (before == references) co_return ok();
  json::array list;
  for (const auto& one : references) list.emplace_back(one);
  json::value body{{"Boot", {{"BootOrder", std::move(list)}}}};
  CO_TRY(const Sent sent,
         co_await send_change(client, place.uri, std::move(body), place.before, deadline));
  std::vector<std::string> now;
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value body_now, co_await client.get(place.uri, deadline));
    CO_TRY(now, order_in(body_now, place.uri));
    if (now == references) co_return ok();
  }
  co_return sent.not_shown(
      {Code::kFailed, place.uri + ": the BMC accepted the boot order and reports " + joined(now)});
}

}  // namespace cupel::bmc::redfish
