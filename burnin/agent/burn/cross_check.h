#pragma once
// GPUs of one model that did the same work must return the same bits. The one that differs from the
// majority is wrong; of two that differ it is not known which.
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cupel::burn {

class CrossCheck {
 public:
  /// `of`: how many GPUs report for each key.
  explicit CrossCheck(std::size_t of) : of_{of} {}

  struct Odd {
    std::string part;  // empty where there is no majority
    std::uint64_t value = 0;
    std::uint64_t most = 0;
    std::string detail;
  };
  /// `part` returned `value` at `key` ("bf16 round 3"), whose `number` (3) grows from one to the
  /// next. With the last report of a key: those that differ. A key that some never report is
  /// compared among the others by rest(). Where GPUs drift so far apart that more than 4,096 keys
  /// wait for the slowest, only each second one is compared from then on, then each fourth, and so
  /// on: those whose number is a multiple.
  std::vector<Odd> tell(const std::string& key, std::uint64_t number, const std::string& part,
                        std::uint64_t value);
  /// `part` reports no more: what waited for it is compared among the others.
  std::vector<Odd> leave(const std::string& part);
  std::vector<Odd> rest();
  /// How often it differed from the majority.
  std::uint64_t odd(const std::string& part) const;

 private:
  struct Key {
    std::uint64_t number = 0;
    std::map<std::string, std::uint64_t> reported{};
  };
  std::vector<Odd> judge(const std::string& key,
                         const std::map<std::string, std::uint64_t>& reported);
  std::size_t missing(const Key& key) const;
  void thin_out();

  const std::size_t of_;
  mutable std::mutex mutex_;
  std::set<std::string> left_;
  std::map<std::string, std::uint64_t> odd_;
  std::map<std::string, Key> open_;  // that wait for a report
  std::uint64_t each_ = 1;           // only keys whose number is a multiple of it are compared
};

}  // namespace cupel::burn
