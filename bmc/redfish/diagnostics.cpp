#include "bmc/redfish/diagnostics.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/task_end.h"
#include "bmc/redfish/update.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {
namespace {

using State = UpdateProgress::State;

constexpr std::size_t kMostOwners = 16, kMostServices = 32, kMostEntries = 256;
constexpr int kAccepted = 202;
constexpr double kLargestSize = 1e15;  // bytes; more is no size
/// How long the entry of a collection that has ended may take to show.
constexpr std::chrono::seconds kShows{60};
/// It has the action, and hands out requests for debug tokens (NVIDIA).
constexpr std::string_view kTokens = "debugtokenservice";

/// Whether an error is about the caller or the BMC as a whole.
bool ends_everything(Code code) {
  constexpr std::array kAll{Code::kCancelled, Code::kUntrusted, Code::kRefused, Code::kUnreachable,
                            Code::kTimeout};
  return std::ranges::find(kAll, code) != kAll.end();
}

/// What is listed and is not there offers nothing.
void note(DiagnosticOffers& into, const std::string& uri, const Error& error) {
  if (error.code == Code::kNotFound) return;
  into.unknown.push_back({"diagnostic data", uri, error.what});
}

/// The log services' collections. What cannot be read is noted, unless nothing can.
Task<Result<std::vector<std::string>>> log_collections(Client& client, Layout layout,
                                                       DiagnosticOffers& offers,
                                                       Deadline deadline) {
  std::vector<std::string> owners{layout.system};
  owners.insert(owners.end(), layout.baseboards.begin(), layout.baseboards.end());
  owners.push_back(layout.manager);
  std::set<std::string> known;
  std::vector<std::string> collections;
  for (std::size_t at = 0; at < owners.size(); ++at) {
    const std::string owner = normal(owners[at]);
    if (owner.empty() || known.contains(owner)) continue;
    if (known.size() >= kMostOwners) {
      offers.unknown.push_back({"diagnostic data", owner,
                                "more than " + std::to_string(kMostOwners) +
                                    " Systems and managers: the rest is not read"});
      break;
    }
    known.insert(owner);
    const auto body = co_await client.get(owner, deadline);
    if (!body && ends_everything(body.error().code)) co_return body.error();
    if (!body) note(offers, owner, body.error());
    if (!body) continue;
    if (auto logs = link_at(*body, "LogServices"); !logs.empty())
      collections.push_back(std::move(logs));
    for (auto& manager : links_at(*body, "Links/ManagedBy"))
      if (is_on_the_bmc(manager)) owners.push_back(std::move(manager));
  }
  co_return collections;
}

Task<Result<std::optional<DiagnosticOffer>>> offer_at(Client& client, std::string uri,
                                                      Deadline deadline) {
  CO_TRY(const json::value service, co_await client.get(uri, deadline));
  const auto action = action_at(service, "Actions/#LogService.CollectDiagnosticData");
  if (!action) co_return std::optional<DiagnosticOffer>{};
  DiagnosticOffer offer{.service = std::move(uri)};
  CO_TRY(offer.types, co_await allowed_words(client, *action, "DiagnosticDataType", deadline));
  CO_TRY(offer.oem_types,
         co_await allowed_words(client, *action, "OEMDiagnosticDataType", deadline));
  co_return std::optional{std::move(offer)};
}

/// An entry, with what tells whether it is another one than before: an XCC keeps its name.
struct Entry {
  std::optional<DiagnosticData> file{};
  std::string type{};
  std::string mark{};
};
using Entries = std::map<std::string, Entry>;

Entry entry_of(const std::string& uri, const json::value& body) {
  Entry entry{.type = reported(body, "DiagnosticDataType")};
  const auto data = text_at(body, "AdditionalDataURI").value_or("");
  const auto bytes = number_at(body, "AdditionalDataSizeBytes").value_or(0);
  const bool is_size = bytes >= 1 && bytes < kLargestSize;
  if (!data.empty()) {
    entry.file = DiagnosticData{.entry = uri, .uri = data};
    if (is_size) entry.file->bytes = static_cast<std::uint64_t>(bytes);
  }
  entry.mark = data + "\n" + reported(body, "Created") + "\n" + std::to_string(is_size ? bytes : 0);
  return entry;
}

/// Most BMCs list whole entries; the others are read one by one.
Task<Result<Entries>> read_entries(Client& client, std::string collection, Deadline deadline) {
  if (collection.empty())
    co_return Error{Code::kUnsupported, "the log service has no list of entries"};
  CO_TRY(json::value body, co_await client.get(collection, deadline));
  Entries entries;
  const auto* members = find(body, "Members");
  const auto* list = members == nullptr ? nullptr : members->if_array();
  for (std::size_t at = 0; list != nullptr && at < list->size(); ++at) {
    const auto& one = (*list)[at];
    const auto uri = normal(text_at(one, "@odata.id").value_or(""));
    const bool whole = text_at(one, "Id").has_value();
    if (whole && is_on_the_bmc(uri)) entries[uri] = entry_of(uri, one);
  }
  CO_TRY(const auto uris, co_await member_uris(client, {std::move(collection), std::move(body)},
                                               kMostEntries, deadline));
  for (const auto& each : uris) {
    const std::string uri = normal(each);
    if (entries.contains(uri)) continue;
    auto entry = co_await client.get(uri, deadline);
    if (!entry && entry.error().code == Code::kNotFound) continue;
    if (!entry) co_return std::move(entry).error();
    entries[uri] = entry_of(uri, *entry);
  }
  co_return entries;
}

/// The entry that an answer names: by Location, or by the headers that a task keeps (bmcweb).
/// Empty: none. Source: DSP0268, Task.Payload.
std::string entry_named_by(const Answer& answer) {
  constexpr std::string_view kLocation = "location:";
  std::string named = answer.status == kAccepted ? "" : path_of(answer.location);
  for (const auto& header : texts_of(find(answer.body, "Payload/HttpHeaders")))
    if (lower_case(header).starts_with(kLocation))
      named = path_of(trimmed(std::string_view{header}.substr(kLocation.size())));
  const bool is_entry = named.find("/LogServices/") != named.npos &&
                        named.find("/Entries/") != named.npos && is_on_the_bmc(named);
  return is_entry ? normal(named) : std::string{};
}

/// Follows the task to its end. Returns the entry that it names; empty: it names none, or the BMC
/// has forgotten it.
Task<Result<std::string>> entry_of_task(Client& client, Answer accepted, Deadline deadline) {
  const std::string task = task_of(accepted);
  Answer last = std::move(accepted);
  for (int lost = 0; !task.empty();) {
    const auto progress = progress_of(last, {});
    if (progress.state == State::failed) co_return task_failed(task, progress);
    if (progress.state != State::running) break;
    if (deadline.passed()) co_return task_still_runs(task, progress);
    const auto pause = pause_before_look(last.retry_after);
    CO_TRY(co_await pause_for(std::min(pause, deadline.left())));
    auto now = co_await client.look(task, deadline);
    if (now) {
      last = *std::move(now);
      lost = 0;
      continue;
    }
    const Error& error = now.error();
    if (error.code == Code::kNotFound) co_return std::string{};
    const bool over = error.code == Code::kCancelled || error.code == Code::kUntrusted;
    if (over) co_return error;
    if (deadline.passed()) co_return task_still_runs(task, progress);
    if (++lost == kMostLostLooks) co_return error;
    last.retry_after = error.retry_after;
  }
  co_return entry_named_by(last);
}

/// What a collection was begun with.
struct Begun {
  DiagnosticOrder order{};
  std::string entries{};   // collection
  Result<Entries> before;  // as they were
};

/// Files of entries that were not there, or had another content, and are of the type.
std::vector<DiagnosticData> new_files(const Begun& begun, const Entries& now) {
  std::vector<DiagnosticData> files;
  for (const auto& [uri, entry] : now) {
    const auto was = begun.before->find(uri);
    const bool same = was != begun.before->end() && was->second.mark == entry.mark;
    const bool fits = entry.type.empty() || lower_case(entry.type) == lower_case(begun.order.type);
    if (entry.file && !same && fits) files.push_back(*entry.file);
  }
  return files;
}

Task<Result<std::vector<DiagnosticData>>> files_now(Client& client, const Begun& begun,
                                                    std::string& entry, Deadline deadline) {
  std::vector<DiagnosticData> files;
  if (!entry.empty()) {
    const auto body = co_await client.get(entry, deadline);
    if (!body && body.error().code != Code::kNotFound) co_return body.error();
    const auto read = body ? entry_of(entry, *body) : Entry{};
    if (read.file) files.push_back(*read.file);
    if (!body) entry.clear();
    co_return files;
  }
  if (!begun.before) co_return begun.before.error();
  CO_TRY(const Entries now, co_await read_entries(client, begun.entries, deadline));
  co_return new_files(begun, now);
}

/// A BMC that makes a large file may refuse a look, or show a list that breaks off.
bool may_pass(Code code) { return is_transient(code) || code == Code::kMalformed; }

/// `entry`: that the task names; empty: none. `lost`: why the answer to the action did not come.
Task<Result<std::vector<DiagnosticData>>> files_left(Client& client, const Begun& begun,
                                                     std::string entry, std::optional<Error> lost,
                                                     Deadline deadline) {
  const auto until = lost ? deadline : deadline.sooner(kShows);
  for (;;) {
    auto files = co_await files_now(client, begun, entry, deadline);
    const bool again = files ? files->empty() : begun.before && may_pass(files.error().code);
    if (!again || (!files && until.passed())) co_return files;
    if (until.passed() && lost) co_return *std::move(lost);
    if (until.passed())
      co_return Error{
          Code::kNotFound,
          printable(begun.entries) + ": the collection has ended, and no entry has a new file"};
    const auto pause = pause_before_look({});
    CO_TRY(co_await pause_for(std::min(pause, until.left())));
  }
}

json::object body_of(const DiagnosticOrder& order) {
  json::object body{{"DiagnosticDataType", order.type}};
  if (!order.oem_type.empty()) body["OEMDiagnosticDataType"] = order.oem_type;
  return body;
}

}  // namespace

Task<Result<DiagnosticOffers>> read_diagnostic_offers(Client& client, Layout layout,
                                                      Deadline deadline) {
  DiagnosticOffers offers;
  CO_TRY(const auto collections,
         co_await log_collections(client, std::move(layout), offers, deadline));
  std::set<std::string> known;
  for (const auto& collection : collections) {
    const auto uris = co_await member_uris(client, collection, kMostServices, deadline);
    if (!uris && ends_everything(uris.error().code)) co_return uris.error();
    if (!uris) note(offers, collection, uris.error());
    for (const auto& uri : uris ? *uris : std::vector<std::string>{}) {
      const bool tokens = lower_case(last_name(uri)) == kTokens;
      if (tokens || !known.insert(normal(uri)).second) continue;
      auto offer = co_await offer_at(client, uri, deadline);
      if (!offer && ends_everything(offer.error().code)) co_return std::move(offer).error();
      if (!offer) note(offers, uri, offer.error());
      if (offer && *offer) offers.services.push_back(**std::move(offer));
    }
  }
  if (!offers.services.empty()) co_return offers;
  std::string why = "this BMC offers no LogService.CollectDiagnosticData";
  if (!offers.unknown.empty())
    why += "; " + printable(offers.unknown.front().source) +
           " could not be read: " + printable(offers.unknown.front().why);
  co_return Error{offers.unknown.empty() ? Code::kUnsupported : Code::kFailed, std::move(why)};
}

Task<Result<std::vector<DiagnosticData>>> collect_diagnostic_data(Client& client,
                                                                  DiagnosticOrder order,
                                                                  Deadline deadline) {
  CO_TRY(const json::value service, co_await client.get(order.service, deadline));
  const auto action = action_at(service, "Actions/#LogService.CollectDiagnosticData");
  if (!action)
    co_return Error{Code::kUnsupported, printable(order.service) + " collects no diagnostic data"};
  const std::string entries = link_at(service, "Entries");
  auto before = co_await read_entries(client, entries, deadline);
  const Begun begun{order, entries, std::move(before)};
  auto accepted = co_await act(client, action->target, body_of(order), deadline);
  const bool may_be_heard = accepted || (is_lost(accepted.error().code) && begun.before);
  if (!may_be_heard) co_return std::move(accepted).error();
  if (!accepted)
    co_return co_await files_left(client, begun, {}, std::move(accepted).error(), deadline);
  CO_TRY(const std::string entry, co_await entry_of_task(client, *std::move(accepted), deadline));
  co_return co_await files_left(client, begun, entry, std::nullopt, deadline);
}

Task<Result<std::uint64_t>> download_diagnostic_data(Client& client, DiagnosticData file,
                                                     DiagnosticSink sink, std::uint64_t most,
                                                     Deadline deadline) {
  const auto path = path_on(client.peer().endpoint, file.uri);
  if (!path)
    co_return Error{Code::kInvalid, printable(file.entry) + ": its file is not on this BMC: " +
                                        printable(shortened(file.uri, 200))};
  if (file.bytes && *file.bytes > most)
    co_return Error{Code::kMalformed, printable(*path) + " has " + std::to_string(*file.bytes) +
                                          " bytes, more than the limit of " + std::to_string(most)};
  CO_TRY(const std::uint64_t got, co_await client.download(*path, std::move(sink), most, deadline));
  if (got == 0) co_return Error{Code::kMalformed, printable(*path) + " is empty"};
  if (file.bytes && got < *file.bytes)
    co_return Error{Code::kMalformed, printable(*path) + " is cut short: " + std::to_string(got) +
                                          " bytes of " + std::to_string(*file.bytes)};
  co_return got;
}

}  // namespace cupel::bmc::redfish
