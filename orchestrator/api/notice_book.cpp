#include "orchestrator/api/notice_book.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace cupel::api {
namespace {

constexpr std::size_t kLargestBook = 32u << 20;  // kMostHooks full queues have some 16 MiB
constexpr unsigned kOwnerAlone = 0600;

std::filesystem::path book_in(const std::filesystem::path& state) { return state / "notices.json"; }

const json::object* object_at(const json::value& value, std::string_view key) {
  const auto* found = cupel::find(value, key);
  return found == nullptr ? nullptr : found->if_object();
}

constexpr std::size_t kLongestReason = 500;

json::object json_of(const NoticeTally& tally) {
  return {{"sent", tally.sent},
          {"lost", tally.lost},
          {"sent_ms", tally.sent_at.time_since_epoch().count()},
          {"failed_ms", tally.failed_at.time_since_epoch().count()},
          {"why", shortened(printable(tally.why), kLongestReason)}};
}

NoticeTally tally_of(const json::value& value) {
  const auto whole = [&](std::string_view key) {
    constexpr double kMost = 1e15;
    return static_cast<std::int64_t>(std::clamp(number_at(value, key).value_or(0), 0.0, kMost));
  };
  const auto time = [&](std::string_view key) {
    return engine::WallTime{std::chrono::milliseconds{whole(key)}};
  };
  return {.sent = static_cast<std::uint64_t>(whole("sent")),
          .lost = static_cast<std::uint64_t>(whole("lost")),
          .sent_at = time("sent_ms"),
          .failed_at = time("failed_ms"),
          .why = text_at(value, "why").value_or("")};
}

NoticeBook book_of(const json::value& document) {
  NoticeBook book;
  book.newest = static_cast<engine::RunId>(number_at(document, "newest").value_or(0));
  if (const auto* runs = object_at(document, "runs"))
    for (const auto& [key, value] : *runs)
      if (const auto run = number<engine::RunId>(key); run && value.is_int64())
        book.runs[*run] = value.get_int64();
  if (const auto* schedules = object_at(document, "schedules"))
    for (const auto& [key, value] : *schedules)
      if (value.is_int64())
        book.schedules[key] = engine::WallTime{std::chrono::milliseconds{value.get_int64()}};
  if (const auto* list = cupel::find(document, "approvals"); list && list->is_array())
    for (const auto& each : list->get_array())
      if (each.is_string()) book.approvals.emplace(each.get_string());
  if (const auto* queues = object_at(document, "queues"))
    for (const auto& [key, value] : *queues) book.queues.emplace(key, NoticeQueue::from(value));
  if (const auto* tallies = object_at(document, "tallies"))
    for (const auto& [key, value] : *tallies) book.tallies.emplace(key, tally_of(value));
  return book;
}

}  // namespace

void NoticeBook::keep_only(const std::vector<NoticeHook>& hooks) {
  const auto is_gone = [&](const auto& entry) {
    return std::ranges::find(hooks, entry.first, &NoticeHook::name) == hooks.end();
  };
  std::erase_if(queues, is_gone);
  std::erase_if(tallies, is_gone);
}

Result<std::optional<NoticeBook>> read_notice_book(const std::filesystem::path& state) {
  const auto text = read_file(book_in(state), kLargestBook);
  if (!text && text.error().code == Code::kNotFound) return std::optional<NoticeBook>{};
  if (!text) return text.error();
  const auto document = parse_json(*text);
  if (!document || !document->is_object())
    return Error{Code::kMalformed,
                 book_in(state).string() +
                     " is no list of notices: remove it, and they begin with what comes then"};
  return std::optional{book_of(*document)};
}

std::string to_text(const NoticeBook& book) {
  json::object runs, schedules, queues, tallies;
  for (const auto& [run, at] : book.runs) runs[std::to_string(run)] = at;
  for (const auto& [name, due] : book.schedules) schedules[name] = due.time_since_epoch().count();
  for (const auto& [name, queue] : book.queues) queues[name] = queue.json();
  for (const auto& [name, tally] : book.tallies) tallies[name] = json_of(tally);
  const json::object document{
      {"newest", book.newest},
      {"runs", std::move(runs)},
      {"schedules", std::move(schedules)},
      {"approvals", json::array(book.approvals.begin(), book.approvals.end())},
      {"queues", std::move(queues)},
      {"tallies", std::move(tallies)}};
  return json::serialize(document) + "\n";
}

Result<void> write_notice_book(const std::filesystem::path& state, const std::string& text) {
  return write_file(book_in(state), text, kOwnerAlone);
}

void remove_notice_book(const std::filesystem::path& state) {
  std::error_code ignored;
  std::filesystem::remove(book_in(state), ignored);
}

}  // namespace cupel::api
