#include "bmc/redfish/bios.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "bmc/bios.h"
#include "bmc/bios_dependencies.h"
#include "bmc/redfish/bios_dependencies.h"
#include "bmc/redfish/bios_registry.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostAttributes = 5000;
constexpr std::size_t kMostJobs = 20;  // the newest; an iDRAC keeps hundreds
constexpr std::string_view kApplyTime = "@Redfish.SettingsApplyTime";
constexpr std::string_view kReset = "Actions/#Bios.ResetBios";
constexpr std::size_t kLongestList = 200;  // bytes of words in an error

/// The BIOS resource, and where the next boot's values are.
struct Bios {
  std::string uri{};
  json::value body{};
  std::string settings_uri{};  // empty: nowhere
  Answer settings{};
};

BiosValues attributes_of(const json::value& body) {
  BiosValues values;
  const auto* attributes = find(body, "Attributes");
  const auto* object = attributes == nullptr ? nullptr : attributes->if_object();
  if (object == nullptr) return values;
  for (const auto& entry : *object) {
    auto value = bios_value_of(entry.value());
    if (value && values.size() < kMostAttributes)
      values.emplace(std::string{entry.key()}, std::move(*value));
  }
  return values;
}

json::value json_of(const BiosValues& values) {
  json::object object;
  for (const auto& [name, value] : values)
    std::visit([&](const auto& one) { object[name] = one; }, value);
  return object;
}

std::string settings_uri_of(const std::string& uri, const json::value& body, const Rules& rules) {
  auto settings = link_at(body, "@Redfish.Settings/SettingsObject");
  if (settings.empty() && !rules.future_state.empty())
    settings = normal(uri) + std::string{rules.future_state};
  return settings;
}

Task<Result<Bios>> read(Client& client, Layout layout, Document system, Deadline deadline) {
  Bios bios{.uri = link_at(system.body, "Bios")};
  if (bios.uri.empty()) co_return Error{Code::kUnsupported, "this BMC shows no BIOS settings"};
  auto body = co_await client.get(bios.uri, deadline);
  // Not kUnsupported: that says that the machine has none, and these may come back.
  if (!body && body.error().code == Code::kNotFound)
    co_return Error{Code::kNotFound,
                    "the BMC names BIOS settings at " + printable(bios.uri) +
                        " and does not have them (HTTP 404); some bring them back when the "
                        "machine has booted once more or the BMC was restarted"};
  if (!body) co_return std::move(body).error();
  bios.body = *std::move(body);
  bios.settings_uri = settings_uri_of(bios.uri, bios.body, *layout.rules);
  if (bios.settings_uri.empty()) co_return bios;
  auto settings = co_await client.get_tagged(bios.settings_uri, deadline);
  if (!settings && settings.error().code != Code::kNotFound) co_return std::move(settings).error();
  if (settings) {
    bios.settings = *std::move(settings);
  } else {
    bios.settings_uri.clear();
  }
  co_return bios;
}

Result<void> has_attributes(const Bios& bios) {
  if (!attributes_of(bios.body).empty()) return ok();
  return Error{Code::kNotFound, printable(bios.uri) +
                                    " shows no BIOS attributes; some BMCs show them when the "
                                    "machine has booted once more or the BMC was restarted"};
}

/// Jobs of the newest that would apply BIOS settings and have not ended.
Task<Result<bool>> a_job_waits(Client& client, std::string queue, Deadline deadline) {
  constexpr std::array<std::string_view, 5> kEnded{"Completed", "CompletedWithErrors", "Failed",
                                                   "RebootFailed", "Cancelled"};
  auto listed = co_await member_uris(client, std::move(queue), kMostListed, deadline);
  if (!listed && listed.error().code == Code::kNotFound) co_return false;
  if (!listed) co_return std::move(listed).error();
  auto uris = *std::move(listed);
  std::ranges::sort(uris, [](const auto& a, const auto& b) { return natural_less(b, a); });
  if (uris.size() > kMostJobs) uris.resize(kMostJobs);
  for (const auto& uri : uris) {
    const auto job = co_await client.get(uri, deadline);
    if (!job) continue;  // it may just have gone
    const auto& body = *job;
    const bool ended = std::ranges::find(kEnded, reported(body, "JobState")) != kEnded.end();
    if (reported(body, "JobType") == "BIOSConfiguration" && !ended) co_return true;
  }
  co_return false;
}

std::string queue_of(const Bios& bios, const Rules& rules) {
  return rules.job_queue.empty() ? std::string{} : link_at(bios.settings.body, rules.job_queue);
}

BiosSettings settings_of(const Bios& bios, bool job_waits) {
  BiosSettings reported{.current = attributes_of(bios.body)};
  for (auto& [name, value] : attributes_of(bios.settings.body)) {
    const auto now = reported.current.find(name);
    const bool same = now != reported.current.end() && same_setting(now->second, value);
    // An iDRAC shows what a job will set as current before that has run.
    if (!same || job_waits) reported.pending.emplace(name, value);
  }
  return reported;
}

bool takes_on_reset(const json::value& bios) {
  const auto times = texts_of(find(bios, "@Redfish.Settings/SupportedApplyTimes"));
  return std::ranges::find(times, "OnReset") != times.end();
}

/// A task that applies settings waits for the next boot.
constexpr std::chrono::seconds kAtOnce{0};
constexpr int kMostRefusals = 8;  // each is a request

/// The attributes that the BMC names in its refusal, as whole words.
std::vector<std::string> named_in(const Error& refusal, const BiosValues& values) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto begin = refusal.what.find("HTTP ");
  if (begin == std::string::npos) return {};
  const auto words =
      std::string_view{refusal.what}.substr(begin, refusal.what.find("; sent {") - begin);
  std::vector<std::string> named;
  for (const auto& [name, value] : values) {
    for (auto at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
      const auto end = at + name.size();
      const bool begins = at == 0 || !in_name(words[at - 1]);
      const bool whole = begins && (end == words.size() || !in_name(words[end]));
      if (!whole) continue;
      named.push_back(name);
      break;
    }
  }
  return named;
}

/// One request for all of it: an iDRAC makes its job of it, and takes no second one.
Task<Result<Sent>> send(Client& client, const Bios& bios, json::value attributes,
                        Deadline deadline) {
  json::object body{{"Attributes", std::move(attributes)}};
  const bool on_reset = takes_on_reset(bios.body);
  if (on_reset) body[kApplyTime] = json::object{{"ApplyTime", "OnReset"}};
  auto done = co_await send_change(client, bios.settings_uri, body, bios.settings, deadline,
                                   StillRunning::is_fine, kAtOnce);
  if (done || !on_reset || !says(done.error(), "SettingsApplyTime")) co_return done;
  body.erase(kApplyTime);
  co_return co_await send_change(client, bios.settings_uri, body, bios.settings, deadline,
                                 StillRunning::is_fine, kAtOnce);
}

using Names = std::vector<std::string>;

bool is_among(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Of what is to be sent: what is read-only until the rest of it is current.
Names locked_among(const BiosValues& values, const BiosSettings& reported,
                   const json::value& registry) {
  const auto evaluable = without_conditional_locks(registry_in(registry), reported);
  const BiosOutcome present{evaluable, reported.current, {}};
  Names locked;
  for (const auto& [name, value] : values)
    if (present.is_locked_now(name)) locked.push_back(name);
  return locked;
}

/// What to leave out next of what a BMC refused. Those that it may take after the boot go first: a
/// BMC that refuses them names the attribute that locks them, too.
Names to_leave_out(const Error& refusal, const BiosValues& values, const Names& locked) {
  auto named = named_in(refusal, values);
  Names later;
  for (const auto& name : named)
    if (is_among(locked, name)) later.push_back(name);
  return later.empty() ? named : later;
}

/// What came of sending.
struct Staged {
  std::string refused{};        // in words: none of those that are locked until others are current
  std::optional<Error> lost{};  // the BMC may have taken them: its answer was lost
};

/// Sends all of it; and without what the BMC refuses by name, so that one attribute keeps no other
/// from being set. Takes those out of `values`.
Task<Result<Staged>> send_all_it_takes(Client& client, const Bios& bios, BiosValues& values,
                                       const Names& locked, Deadline deadline) {
  std::string refused;
  for (int refusals = 0;; ++refusals) {
    auto done = co_await send(client, bios, json_of(values), deadline);
    if (done) co_return Staged{std::move(refused), std::move(done->lost)};
    const Error& error = done.error();
    const auto named = to_leave_out(error, values, locked);
    const bool again = is_http(error, 400) && !named.empty() && named.size() < values.size() &&
                       refusals < kMostRefusals;
    if (!again) co_return error;
    for (const auto& name : named) values.erase(name);
    if (is_among(locked, named.front())) continue;
    const Error words{error.code, error.what.substr(0, error.what.find("; sent {"))};
    refused += (refused.empty() ? "" : "; ") + explained(words).what;
  }
}

/// Unless one waits: a BMC refuses a second one. Where the answer is lost, the queue shows whether
/// there is one.
Task<Result<void>> ensure_job(Client& client, std::string queue, std::string settings,
                              Deadline deadline) {
  CO_TRY(const bool waits, co_await a_job_waits(client, queue, deadline));
  if (waits) co_return ok();
  json::value body{{"TargetSettingsURI", settings}};
  const auto created = co_await act(client, queue, std::move(body), deadline);
  if (created) co_return ok();
  if (!is_lost(created.error().code)) co_return created.error();
  const auto shown = co_await a_job_waits(client, queue, deadline);
  if (shown && *shown) co_return ok();
  co_return created.error();
}

/// Returns those of `locked` that the BMC did not keep.
Task<Result<Names>> read_back(Client& client, Layout layout, Document system, BiosValues requested,
                              Names locked, Deadline deadline) {
  BiosValues lost;
  for (int reads = 0; reads < kReadsBack; ++reads) {
    if (reads > 0) {
      CO_TRY(co_await pause_for(kBetweenReads));
    }
    CO_TRY(const BiosSettings now, co_await read_bios(client, layout, system, deadline));
    lost = differing(requested, now);
    if (lost.empty()) co_return Names{};
  }
  std::string names;
  Names later;
  for (const auto& [name, value] : lost) {
    if (is_among(locked, name))
      later.push_back(name);
    else
      names += (names.empty() ? "" : ", ") + printable(name);
  }
  if (names.empty()) co_return later;
  co_return Error{Code::kFailed, "the BMC accepted BIOS settings and did not keep: " + names};
}

/// What the action wants to hear; empty: nothing. AMI's ActionInfo lists one word, an iLO's
/// documentation has its own. Errors: kUnsupported: other words.
Result<std::string> reset_word(const std::vector<std::string>& allowed, const Rules& rules) {
  constexpr std::array<std::string_view, 3> kKnown{"Reset", "default", "Default"};
  if (allowed.empty()) return std::string{rules.bios_reset};
  for (const auto word : kKnown)
    if (std::ranges::find(allowed, word) != allowed.end()) return std::string{word};
  std::string all;
  for (const auto& word : allowed)
    if (all.size() < kLongestList) all += (all.empty() ? "" : ", ") + printable(word);
  return Error{Code::kUnsupported,
               "Bios.ResetBios of this BMC wants one of these words, none of which is known: " +
                   shortened(all, kLongestList)};
}

}  // namespace

Task<Result<void>> reset_bios(Client& client, Layout layout, Document system, Deadline deadline) {
  CO_TRY(const Bios bios, co_await read(client, layout, std::move(system), deadline));
  auto action = action_at(bios.body, kReset);
  if (!action) action = action_at(bios.settings.body, kReset);
  if (!action) co_return Error{Code::kUnsupported, "this BMC offers no reset of its BIOS settings"};
  CO_TRY(const auto allowed, co_await allowed_words(client, *action, "ResetType", deadline));
  CO_TRY(const std::string word, reset_word(allowed, *layout.rules));
  json::object body;
  if (!word.empty()) body["ResetType"] = word;
  const auto done = co_await act(client, action->target, std::move(body), deadline);
  if (!done) co_return done.error();
  co_return ok();
}

Task<Result<BiosSettings>> read_bios(Client& client, Layout layout, Document system,
                                     Deadline deadline) {
  CO_TRY(const Bios bios, co_await read(client, layout, std::move(system), deadline));
  CO_TRY(has_attributes(bios));
  const auto queue = queue_of(bios, *layout.rules);
  if (queue.empty() || attributes_of(bios.settings.body).empty())
    co_return settings_of(bios, false);
  CO_TRY(const bool waits, co_await a_job_waits(client, queue, deadline));
  co_return settings_of(bios, waits);
}

Task<Result<BiosRegistry>> read_bios_registry(Client& client, Layout layout, Document system,
                                              Deadline deadline) {
  CO_TRY(const Bios bios, co_await read(client, layout, std::move(system), deadline));
  CO_TRY(const json::value registry,
         co_await read_bios_registry_file(client, layout, bios.body, deadline));
  co_return registry_in(registry);
}

Task<Result<std::vector<std::string>>> stage_bios(Client& client, Layout layout, Document system,
                                                  BiosValues requested, Deadline deadline) {
  CO_TRY(const Bios bios, co_await read(client, layout, system, deadline));
  CO_TRY(has_attributes(bios));
  if (bios.settings_uri.empty())
    co_return Error{
        Code::kUnsupported,
        printable(bios.uri) + " shows BIOS settings and has no resource to change them"};
  CO_TRY(const json::value registry,
         co_await read_bios_registry_file(client, layout, bios.body, deadline));
  const auto reported = settings_of(bios, false);
  CO_TRY(BiosValues good, checked(requested, reported, registry));
  BiosValues missing = differing(good, reported);
  const auto sent = missing;
  const auto locked = locked_among(sent, reported, registry);
  const auto queue = queue_of(bios, *layout.rules);
  Names later;
  Staged staged;
  if (!missing.empty()) {
    CO_TRY(staged, co_await send_all_it_takes(client, bios, missing, locked, deadline));
  }
  for (const auto& [name, value] : sent) {
    if (missing.contains(name)) continue;
    good.erase(name);
    if (is_among(locked, name)) later.push_back(name);
  }
  // A job of settings that the BMC did not take would be one of others that wait.
  if (staged.lost) {
    const auto shown = co_await read_back(client, layout, system, missing, locked, deadline);
    const bool as_before = !shown && shown.error().code == Code::kFailed;
    if (as_before) co_return *std::move(staged.lost);
    if (!shown) co_return shown.error();
  }
  const bool something_waits = !reported.pending.empty() || !missing.empty();
  if (something_waits && !queue.empty() && !takes_on_reset(bios.body)) {
    CO_TRY(co_await ensure_job(client, queue, bios.settings_uri, deadline));
  }
  if (missing.empty()) co_return later;
  CO_TRY(const Names lost,
         co_await read_back(client, layout, std::move(system), good, locked, deadline));
  later.insert(later.end(), lost.begin(), lost.end());
  if (staged.refused.empty()) co_return later;
  co_return Error{Code::kInvalid, staged.refused + "; the other BIOS settings are set"};
}

}  // namespace cupel::bmc::redfish
