#pragma once
// Alike GPUs that were given alike work must come to the same bits. Whoever differs from most of
// them is wrong; of two that differ nobody knows which.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace cupel::burn {

class Agreement {
 public:
  /// `of`: how many will tell for each key.
  explicit Agreement(std::size_t of) : of_{of} {}

  struct Odd {
    std::string part;  // empty where there is no majority
    std::uint64_t said = 0;
    std::uint64_t most = 0;
    std::string detail;
  };
  /// What `part` came to at `key` ("bf16 round 3"). Once the last one has told: who differs. A key
  /// that not all tell of is compared among those who did, by rest().
  std::vector<Odd> tell(const std::string& key, const std::string& part, std::uint64_t said);
  std::vector<Odd> rest();
  /// How often it was the odd one.
  std::uint64_t odd(const std::string& part) const;

 private:
  std::vector<Odd> judge(const std::string& key, const std::map<std::string, std::uint64_t>& told);

  const std::size_t of_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> odd_;
  std::map<std::string, std::map<std::string, std::uint64_t>> told_;
};

}  // namespace cupel::burn
