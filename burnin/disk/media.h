#pragma once
// What became of one medium (a drive, by its serial number) that was to be erased before its
// machine leaves: what a certificate says of it. Source of `method`: NIST SP 800-88 Rev. 1, 2.5
// (Clear, Purge, Destroy) and the fields of its Appendix G.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cupel::burnin {

struct ErasedMedium {
  std::string serial{};
  std::string drive{}, model{};
  std::string result{};                // "erased", "failed", "not erased", "skipped"
  std::string method{}, technique{};   // of an erased one
  std::string tool{}, verification{};  // of an erased one
  std::string why{};                   // of any other

  friend bool operator==(const ErasedMedium&, const ErasedMedium&) = default;
};

/// As a node's record keeps it: a fact's name and its text.
std::pair<std::string, std::string> fact_of(const ErasedMedium& medium);

/// All media among a record's facts, in the order of their serial numbers. What is damaged is left
/// out.
std::vector<ErasedMedium> media_in(const std::map<std::string, std::string, std::less<>>& facts);

/// Whether the step is one that erases media.
bool erases_media(std::string_view step);

}  // namespace cupel::burnin
