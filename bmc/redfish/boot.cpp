#include "bmc/redfish/boot.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

/// The standard's words for a target, the best first. Source: DSP0268, BootSource.
std::span<const std::string_view> words_of(BootTarget target) {
  static constexpr std::array<std::string_view, 1> kNone{"None"}, kPxe{"Pxe"}, kHttp{"UefiHttp"},
      kDisk{"Hdd"}, kSetup{"BiosSetup"};
  static constexpr std::array<std::string_view, 2> kCd{"Cd", "UsbCd"};
  switch (target) {
    case BootTarget::none:
      return kNone;
    case BootTarget::pxe:
      return kPxe;
    case BootTarget::uefi_http:
      return kHttp;
    case BootTarget::disk:
      return kDisk;
    case BootTarget::virtual_cd:
      return kCd;
    case BootTarget::bios_setup:
      return kSetup;
  }
  __builtin_unreachable();
}

constexpr std::array kTargets{BootTarget::none, BootTarget::pxe,        BootTarget::uefi_http,
                              BootTarget::disk, BootTarget::virtual_cd, BootTarget::bios_setup};

const json::value* at(const json::value& resource, std::string_view name) {
  return find(resource, "Boot/" + std::string{name});
}

bool has_override(const json::value& resource) {
  return at(resource, "BootSourceOverrideTarget") != nullptr;
}

/// Where the override is written: the settings resource where that one contains it (AMI's /SD,
/// OpenBMC's /Settings), else the System. Lenovo's /Pending is one that does not.
Task<Result<Answer>> writable(Client& client, Document system, std::string& uri,
                              Deadline deadline) {
  const auto settings = link_at(system.body, "@Redfish.Settings/SettingsObject");
  if (!settings.empty()) {
    auto there = co_await client.get_tagged(settings, deadline);
    if (there && has_override(there->body)) {
      uri = settings;
      co_return there;
    }
    if (!there && there.error().code != Code::kNotFound) co_return there;
  }
  uri = system.uri;
  Answer itself{.status = 200, .body = std::move(system.body)};
  itself.etag = text_at(itself.body, "@odata.etag").value_or("");
  co_return itself;
}

std::vector<std::string> allowable(const json::value& resource, std::string_view name) {
  return texts_of(at(resource, std::string{name} + "@Redfish.AllowableValues"));
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + word;
  return printable(list);
}

/// The word that this BMC has for the target. The lists of the System and of its settings may
/// differ (BlueField-3); without any, the standard's.
Result<std::string> word_for(BootTarget target, const Rules& rules, const json::value& resource,
                             const json::value& system) {
  auto allowed = allowable(resource, "BootSourceOverrideTarget");
  for (auto& word : allowable(system, "BootSourceOverrideTarget"))
    if (!contains(allowed, word)) allowed.push_back(std::move(word));
  const bool own_cd = target == BootTarget::virtual_cd && !rules.virtual_cd.empty();
  if (own_cd && (allowed.empty() || contains(allowed, rules.virtual_cd)))
    return std::string{rules.virtual_cd};
  const auto words = words_of(target);
  if (allowed.empty()) return std::string{words.front()};
  for (const auto word : words)
    if (contains(allowed, word)) return std::string{word};
  return Error{Code::kUnsupported, "no boot target " + std::string{to_string(target)} +
                                       "; the BMC has: " + joined(allowed)};
}

/// "Once", "Continuous" or "Disabled", if the BMC has that.
Result<std::string> enabled_for(const BootOverride& requested, const Rules& rules,
                                const json::value& resource, const json::value& system) {
  if (requested.target == BootTarget::none) return std::string{"Disabled"};
  const std::string word = requested.once ? "Once" : "Continuous";
  auto allowed = allowable(resource, "BootSourceOverrideEnabled");
  if (allowed.empty()) allowed = allowable(system, "BootSourceOverrideEnabled");
  const bool refused = !requested.once && rules.override_only_once;
  if (refused || (!allowed.empty() && !contains(allowed, word)))
    return Error{Code::kUnsupported,
                 "this BMC has no boot override " +
                     std::string{requested.once ? "for one boot" : "that stays"} +
                     (requested.once ? ""
                                     : ": set it once before each boot, or change the boot order "
                                       "in the BIOS settings")};
  return word;
}

Result<void> check_uri(const BootOverride& requested, const Rules& rules,
                       const json::value& resource) {
  if (requested.uri.empty()) return ok();
  if (requested.target != BootTarget::uefi_http)
    return Error{Code::kInvalid, "an URI is for boot target http, not for " +
                                     std::string{to_string(requested.target)}};
  if (at(resource, "HttpBootUri") != nullptr) return ok();
  const std::string instead{rules.http_uri_instead};
  return Error{Code::kUnsupported, "this BMC cannot tell the machine an URI: let DHCP tell it" +
                                       (instead.empty() ? std::string{} : ", or " + instead)};
}

/// All together: a Supermicro sets what is left out back to Once, or to legacy mode. The mode only
/// where it is advertised: some have none, and refuse it. A URI from before is cleared: the machine
/// would boot from it where DHCP is to give the URI, and the ticket in it would stay in the BMC.
json::value body_for(const std::string& word, const std::string& enabled,
                     const BootOverride& requested, const json::value& resource) {
  const bool none = requested.target == BootTarget::none;
  json::object boot{{"BootSourceOverrideTarget", word}, {"BootSourceOverrideEnabled", enabled}};
  const auto modes = allowable(resource, "BootSourceOverrideMode");
  const auto mode = text_at(resource, "Boot/BootSourceOverrideMode");
  const bool has_mode = at(resource, "BootSourceOverrideMode") != nullptr || !modes.empty();
  if (has_mode && !none) boot["BootSourceOverrideMode"] = "UEFI";
  if (mode && none) boot["BootSourceOverrideMode"] = *mode;
  const bool has_uri = !text_at(resource, "Boot/HttpBootUri").value_or("").empty();
  if (has_uri || !requested.uri.empty()) boot["HttpBootUri"] = requested.uri;
  return json::object{{"Boot", std::move(boot)}};
}

/// Leaves out an empty URI, for a BMC that takes none; whether there was one.
bool drop_empty_uri(json::value& body) {
  auto& boot = body.at("Boot").as_object();
  const auto* uri = boot.if_contains("HttpBootUri");
  if (uri == nullptr || !uri->get_string().empty()) return false;
  boot.erase("HttpBootUri");
  return true;
}

BootOverride override_of(const json::value& resource) {
  const auto enabled = text_at(resource, "Boot/BootSourceOverrideEnabled").value_or("");
  const auto word = text_at(resource, "Boot/BootSourceOverrideTarget").value_or("");
  if (enabled != "Once" && enabled != "Continuous") return {};
  for (const auto target : kTargets) {
    const auto words = words_of(target);
    if (std::ranges::find(words, word) == words.end()) continue;
    BootOverride seen{.target = target, .once = target != BootTarget::none && enabled == "Once"};
    if (target == BootTarget::uefi_http) seen.uri = reported(resource, "Boot/HttpBootUri");
    return seen;
  }
  return {};
}

/// Where the BMC wants it written instead, by its refusal or by what is known of it; empty:
/// nowhere. Source: DSP0268, Base registry, OperationSupportedInFutureStateURI.
std::string future_state_of(const Error& refusal, const std::string& uri, const Rules& rules) {
  if (!says(refusal, "OperationSupportedInFutureStateURI")) return {};
  for (auto from = refusal.what.find("HTTP "); from != std::string::npos;) {
    from = refusal.what.find("/redfish/", from + 1);
    if (from == std::string::npos) break;
    const auto end = refusal.what.find_first_of(" '\",;)]", from);
    auto named = refusal.what.substr(from, end - from);
    while (named.ends_with('.')) named.pop_back();
    if (is_on_the_bmc(named) && normal(named) != normal(uri)) return named;
  }
  return rules.future_state.empty() ? std::string{} : uri + std::string{rules.future_state};
}

bool same(const BootOverride& requested, const BootOverride& kept) {
  return requested.target == kept.target && requested.once == kept.once &&
         (requested.uri.empty() || requested.uri == kept.uri);
}

std::string boot_text(const BootOverride& one) {
  return std::string{to_string(one.target)} + (one.once ? " (once)" : "") +
         (one.uri.empty() ? "" : " from " + printable(one.uri));
}

/// For a BMC that keeps an override which was to be for one boot: what it had before is written
/// again, and said.
Task<Error> put_back(Client& client, std::string uri, json::value before, BootOverride requested,
                     Deadline deadline) {
  const std::string target{to_string(requested.target)};
  const std::string what = uri + ": the BMC set boot target " + target +
                           " for every boot (Continuous), not for the next one";
  json::object boot;
  for (const auto* name : {"BootSourceOverrideTarget", "BootSourceOverrideEnabled",
                           "BootSourceOverrideMode", "HttpBootUri"})
    if (const auto* value = at(before, name); value != nullptr && !value->is_null())
      boot[name] = *value;
  const auto had = override_of(before);
  const auto done =
      co_await send_change(client, uri, json::object{{"Boot", std::move(boot)}}, deadline);
  std::string why = done ? "" : done.error().what;
  if (done) {
    const auto now = co_await client.get(uri, deadline);
    if (now && override_of(*now).target == had.target)
      co_return Error{Code::kFailed, what + "; it was put back to " + boot_text(had) +
                                         ". To boot from " + target + " every time: --keep"};
    why = now ? "it reads back " + boot_text(override_of(*now)) : now.error().what;
    if (done->lost) why = done->lost->what + "; " + why;
  }
  co_return Error{Code::kFailed, what + ", and it could not be put back: " + why +
                                     "; every boot is from " + target + " until it is set to none"};
}

Task<Result<void>> read_back(Client& client, std::string uri, json::value before,
                             BootOverride requested, Deadline deadline) {
  // What it shows has no secrets in it any more.
  requested.uri =
      client.bmc_limits().secrets.scrubbed(std::move(requested.uri), SentSecrets::In::document);
  BootOverride kept;
  bool legacy = false;
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value now, co_await client.get(uri, deadline));
    kept = override_of(now);
    legacy = requested.target != BootTarget::none &&
             text_at(now, "Boot/BootSourceOverrideMode") == "Legacy";
    if (same(requested, kept) && !legacy) co_return ok();
  }
  const bool stays = requested.once && !kept.once && requested.target == kept.target;
  if (stays) co_return co_await put_back(client, uri, std::move(before), requested, deadline);
  co_return Error{Code::kFailed, uri + ": the BMC accepted boot target " +
                                     std::string{to_string(requested.target)} + " and reads back " +
                                     boot_text(kept) + (legacy ? " in legacy mode" : "")};
}

}  // namespace

Task<Result<void>> set_boot(Client& client, Layout layout, Document system, BootOverride requested,
                            Deadline deadline) {
  if (requested.target == BootTarget::none) requested.once = false;
  const Rules& rules = *layout.rules;
  std::string uri;
  CO_TRY(const Answer before, co_await writable(client, system, uri, deadline));
  if (!has_override(before.body))
    co_return Error{Code::kUnsupported, system.uri + " has no boot override"};
  CO_TRY(const std::string word, word_for(requested.target, rules, before.body, system.body));
  CO_TRY(check_uri(requested, rules, before.body));
  CO_TRY(const std::string enabled, enabled_for(requested, rules, before.body, system.body));
  json::value body = body_for(word, enabled, requested, before.body);
  auto done = co_await send_change(client, uri, body, before, deadline);
  const bool refuses_uri = !done && is_http(done.error(), 400) && says(done.error(), "HttpBootUri");
  if (refuses_uri && drop_empty_uri(body))
    done = co_await send_change(client, uri, body, before, deadline);
  if (!done) {
    const auto later = future_state_of(done.error(), uri, rules);
    if (later.empty()) co_return std::move(done).error();
    uri = later;
    done = co_await send_change(client, uri, std::move(body), deadline);
    if (!done) co_return std::move(done).error();
  }
  auto shown = co_await read_back(client, uri, before.body, requested, deadline);
  if (shown || !done->lost || shown.error().code != Code::kFailed) co_return shown;
  co_return Error{done->lost->code, done->lost->what + "; read back: " + shown.error().what};
}

Task<Result<BootOverride>> read_boot(Client& client, Document system, Deadline deadline) {
  std::string uri;
  CO_TRY(const Answer there, co_await writable(client, std::move(system), uri, deadline));
  if (!has_override(there.body)) co_return Error{Code::kUnsupported, uri + ": no boot override"};
  co_return override_of(there.body);
}

}  // namespace cupel::bmc::redfish
