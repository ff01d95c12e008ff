#pragma once
// Which column of a table of cables holds what, by the words of its header. Pure. Not public: of
// cable_files.cpp.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cupel::inventory {

enum class CableColumn {
  from,
  from_port,
  to,
  to_port,
  speed,
  length,
  type,
  from_place,
  to_place,
  serial,
  from_model,
  from_serial,
  to_model,
  to_serial
};
inline constexpr std::size_t kCableColumns = 14;

/// The four that a cable needs, with the names that NDT files have for them.
inline constexpr std::array<std::pair<CableColumn, std::string_view>, 4> kNeededColumns{
    {{CableColumn::from, "StartDevice"},
     {CableColumn::from_port, "StartPort"},
     {CableColumn::to, "EndDevice"},
     {CableColumn::to_port, "EndPort"}}};

/// What a site calls its columns, for headers that are not understood by themselves.
using ColumnNames = std::vector<std::pair<CableColumn, std::string>>;

/// "from=Host, from_port=NIC, to=Switch, to_port=Switch port": names of CableColumn. Errors: a word
/// that is none of them, one that is there twice, a column without a name; then the reason.
std::pair<ColumnNames, std::string> column_names(std::string_view text);

class CableHeader {
 public:
  CableHeader() { at_.fill(-1); }
  /// Of the names of the two dialects (NDT, P2P) and of those that `given` has, each cell by
  /// itself; of other words where they make up all four columns: "Source Device", "A-End Port",
  /// "To", "side_b_name", or a "Name" and a "Port" for each end, the first end's first.
  /// `may_guess`: whether other words count.
  CableHeader(const std::vector<std::string>& cells, const ColumnNames& given, bool may_guess);

  int at(CableColumn column) const { return at_[static_cast<std::size_t>(column)]; }
  /// Two columns or more are known: this is a header, be it complete or not.
  bool is_header() const { return known_ >= 2; }
  /// The needed columns that are not there, by their names in NDT files.
  std::string absent() const;
  /// Device and port of an end are in one cell: "n01:mlx5_0".
  bool joined() const { return joined_; }

 private:
  void put(CableColumn column, std::size_t cell);
  void guess(const std::vector<std::string>& cells);

  std::array<int, kCableColumns> at_{};
  std::size_t known_ = 0;
  bool joined_ = false;
};

}  // namespace cupel::inventory
