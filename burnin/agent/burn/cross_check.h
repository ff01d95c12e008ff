#pragma once
// GPUs of one model that did the same work must return the same bits. The one that differs from the
// majority is wrong; of two that differ nobody knows which.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace cupel::burn {

class CrossCheck {
 public:
  /// `of`: how many GPUs report for each key.
  explicit CrossCheck(std::size_t of) : of_{of} {}

  struct Odd {
    std::string part;  // empty where there is no majority
    std::uint64_t said = 0;
    std::uint64_t most = 0;
    std::string detail;
  };
  /// `part` returned `said` at `key` ("bf16 round 3"). With the last report of a key: those that
  /// differ. A key that some never report is compared among the others by rest().
  std::vector<Odd> tell(const std::string& key, const std::string& part, std::uint64_t said);
  std::vector<Odd> rest();
  /// How often it differed from the majority.
  std::uint64_t odd(const std::string& part) const;

 private:
  std::vector<Odd> judge(const std::string& key, const std::map<std::string, std::uint64_t>& told);

  const std::size_t of_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> odd_;
  std::map<std::string, std::map<std::string, std::uint64_t>> told_;
};

}  // namespace cupel::burn
