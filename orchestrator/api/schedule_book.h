#pragma once
// What became of each schedule when it was last due, in a file of the state folder: a start is made
// up for once, and never made twice, whatever ended the service meanwhile.
#include <filesystem>
#include <map>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::api {

struct ScheduleTurn {
  engine::WallTime due{};
  std::string outcome{};  // "first-seen", "begun", "started", "skipped", "refused"
  engine::RunId run = 0;  // where it was started
  std::string why{};      // where it was not
};

class ScheduleBook {
 public:
  /// Errors: kStorage; kMalformed: the file is not one of ours.
  static Result<ScheduleBook> open(const std::filesystem::path& state);

  /// nullptr: never seen. Valid until the next put().
  const ScheduleTurn* last(std::string_view schedule) const;
  /// Durable before it returns. Errors: kStorage.
  Result<void> put(const std::string& schedule, ScheduleTurn turn);
  /// Drops those that are no longer in the settings; written with the next put().
  void keep_only(const std::vector<std::string>& known);

 private:
  explicit ScheduleBook(std::filesystem::path file) : file_{std::move(file)} {}

  std::filesystem::path file_;
  std::map<std::string, ScheduleTurn, std::less<>> turns_{};
};

}  // namespace cupel::api
