#pragma once
// What nccl-tests printed: its table, in any version, or the JSON that -J wrote. Pure; serves runs
// within a node and between nodes. Not what follows from it: that is nccl_tests.h.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// One size, one way of placing the result. Nothing: "N/A", or not reported.
struct CollectiveTime {
  std::optional<double> micros{};
  std::optional<double> bus{};    // GB/s of 1e9 bytes
  std::optional<double> wrong{};  // elements that came out wrong; nothing: nobody looked
  /// Versions with a column "error" tell how far results are off ("2e-07"), by rounding too: what
  /// is wrong only their footer says.
  std::optional<double> off{};
  friend bool operator==(const CollectiveTime&, const CollectiveTime&) = default;
};

struct CollectiveRow {
  double bytes = 0;
  CollectiveTime out_of_place{}, in_place{};
  friend bool operator==(const CollectiveRow&, const CollectiveRow&) = default;
};

struct CollectiveReport {
  std::vector<CollectiveRow> rows{};
  std::optional<double> out_of_bounds{};  // the footer's count of wrong sizes
  std::optional<double> average{};        // over all sizes: no measure of a link
  std::string nccl{};                     // "2.28.9+cuda13.0"
  std::optional<bool> nvls{};             // whether reductions in the switches were there to use
  std::size_t damaged = 0;                // rows into which something else was written
  bool is_whole = false;                  // the footer came, which every version prints, or JSON

  /// The row of the largest size, the slowest where it was reported twice; nullptr if there is
  /// none.
  const CollectiveRow* largest() const;
  /// The row of the smallest size that is not nought.
  const CollectiveRow* smallest() const;
  /// The size behind which one is missing, where sizes double; nothing if none is.
  std::optional<double> gap() const;
};

/// Columns are found by the header's names ("#wrong" or "error"), and where there is no header by
/// the shape of 13 or 12 columns. What mpirun, srun or NCCL put in front of a row is passed over.
/// Rows of several groups are not reported apart. A last line without an end is cut short: no row.
/// Text is whole once the footer counts the sizes that went wrong; JSON once it is a document.
/// Source: NVIDIA/nccl-tests v2.9.0 to v2.19.6, src/util.cu and src/common.cu.
CollectiveReport read_nccl_tests(std::string_view text);

}  // namespace cupel::burnin
