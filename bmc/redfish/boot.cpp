#include "bmc/redfish/boot.h"

#include <array>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
constexpr int kReadsBack = 4;
constexpr auto kBetweenReads = 1s;

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
    if (there && has_override(there.assume_value().body)) {
      uri = settings;
      co_return there;
    }
    if (!there && there.assume_error().code != Code::kNotFound) co_return there;
  }
  uri = system.uri;
  Answer itself{.status = 200, .body = std::move(system.body)};
  itself.etag = text_at(itself.body, "@odata.etag").value_or("");
  co_return itself;
}

std::vector<std::string> allowable(const json::value& resource, std::string_view name) {
  std::vector<std::string> words;
  const auto* value = at(resource, std::string{name} + "@Redfish.AllowableValues");
  const auto* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr) return words;
  for (const auto& one : *list)
    if (one.is_string()) words.emplace_back(one.get_string());
  return words;
}

/// The word that this BMC has for the target. Without a list, the standard's.
Result<std::string> word_for(BootTarget target, const json::value& resource,
                             const json::value& system) {
  auto allowed = allowable(resource, "BootSourceOverrideTarget");
  if (allowed.empty()) allowed = allowable(system, "BootSourceOverrideTarget");
  const auto words = words_of(target);
  if (allowed.empty()) return std::string{words.front()};
  for (const auto word : words)
    if (std::ranges::find(allowed, word) != allowed.end()) return std::string{word};
  std::string list;
  for (const auto& word : allowed) list += (list.empty() ? "" : ", ") + word;
  return Error{Code::kUnsupported, "no boot target " + std::string{to_string(target)} +
                                       "; the BMC has: " + printable(list)};
}

/// All three together: a Supermicro sets what is left out back to Once, or to legacy mode. The mode
/// only where it is advertised: some have none, and refuse it.
json::value body_for(const std::string& word, const json::value& resource) {
  const bool none = word == "None";
  json::object boot{{"BootSourceOverrideTarget", word},
                    {"BootSourceOverrideEnabled", none ? "Disabled" : "Once"}};
  const auto modes = allowable(resource, "BootSourceOverrideMode");
  const bool has_mode = at(resource, "BootSourceOverrideMode") != nullptr || !modes.empty();
  if (has_mode && !none) boot["BootSourceOverrideMode"] = "UEFI";
  return json::object{{"Boot", std::move(boot)}};
}

BootOverride override_of(const json::value& resource) {
  const auto enabled = text_at(resource, "Boot/BootSourceOverrideEnabled").value_or("");
  const auto word = text_at(resource, "Boot/BootSourceOverrideTarget").value_or("");
  if (enabled != "Once" && enabled != "Continuous") return {};
  for (const auto target : kTargets) {
    const auto words = words_of(target);
    if (std::ranges::find(words, word) != words.end())
      return {.target = target, .once = target != BootTarget::none && enabled == "Once"};
  }
  return {};
}

}  // namespace

Task<Result<void>> set_boot(Client& client, Document system, BootTarget target, Deadline deadline) {
  const BootOverride wanted{.target = target, .once = target != BootTarget::none};
  std::string uri;
  CO_TRY(const Answer before, co_await writable(client, system, uri, deadline));
  if (!has_override(before.body))
    co_return Error{Code::kUnsupported, system.uri + " has no boot override"};
  CO_TRY(const std::string word, word_for(target, before.body, system.body));
  json::value body = body_for(word, before.body);
  CO_TRY(co_await client.patch(uri, std::move(body), before, deadline));
  BootOverride kept;
  for (int read = 0; read < kReadsBack; ++read) {
    if (read > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const json::value now, co_await client.get(uri, deadline));
    kept = override_of(now);
    if (kept == wanted) co_return ok();
  }
  co_return Error{Code::kFailed, uri + ": the BMC accepted boot target " +
                                     std::string{to_string(target)} + " and reads back " +
                                     std::string{to_string(kept.target)} +
                                     (kept.once ? " (once)" : "")};
}

Task<Result<BootOverride>> read_boot(Client& client, Document system, Deadline deadline) {
  std::string uri;
  CO_TRY(const Answer there, co_await writable(client, std::move(system), uri, deadline));
  if (!has_override(there.body)) co_return Error{Code::kUnsupported, uri + ": no boot override"};
  co_return override_of(there.body);
}

}  // namespace cupel::bmc::redfish
