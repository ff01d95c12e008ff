#include "orchestrator/api/schedule_book.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargest = 1u << 20;
constexpr unsigned kOursAlone = 0600;
constexpr std::size_t kLongestReason = 500;

json::object json_of(const ScheduleTurn& turn) {
  json::object object{{"due_ms", turn.due.time_since_epoch().count()}, {"outcome", turn.outcome}};
  if (turn.run != 0) object["run"] = turn.run;
  if (!turn.why.empty()) object["why"] = shortened(printable(turn.why), kLongestReason);
  return object;
}

ScheduleTurn turn_of(const json::value& value) {
  ScheduleTurn turn;
  turn.due = engine::WallTime{std::chrono::milliseconds{
      static_cast<std::int64_t>(cupel::number_at(value, "due_ms").value_or(0))}};
  turn.outcome = text_at(value, "outcome").value_or("");
  turn.run = static_cast<engine::RunId>(cupel::number_at(value, "run").value_or(0));
  turn.why = text_at(value, "why").value_or("");
  return turn;
}

}  // namespace

Result<ScheduleBook> ScheduleBook::open(const std::filesystem::path& state) {
  ScheduleBook book{state / "schedules.json"};
  const auto text = read_file(book.file_, kLargest);
  if (!text && text.error().code == Code::kNotFound) return book;
  if (!text) return text.error();
  const auto document = parse_json(*text);
  if (!document || !document->is_object())
    return Error{Code::kMalformed,
                 book.file_.string() +
                     " is no list of schedules: remove it, and each begins with its next time"};
  for (const auto& [name, value] : document->get_object())
    book.turns_.emplace(std::string{name}, turn_of(value));
  return book;
}

const ScheduleTurn* ScheduleBook::last(std::string_view schedule) const {
  const auto found = turns_.find(schedule);
  return found == turns_.end() ? nullptr : &found->second;
}

Result<void> ScheduleBook::put(const std::string& schedule, ScheduleTurn turn) {
  turns_[schedule] = std::move(turn);
  json::object object;
  for (const auto& [name, each] : turns_) object[name] = json_of(each);
  return write_file(file_, json::serialize(object) + "\n", kOursAlone);
}

void ScheduleBook::keep_only(const std::vector<std::string>& known) {
  std::erase_if(turns_, [&](const auto& entry) {
    return std::ranges::find(known, entry.first) == known.end();
  });
}

}  // namespace cupel::api
