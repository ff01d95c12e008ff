#pragma once
// The files that a shell script printed with `grep -H . FILES`, "path:line", as a tree that can be
// read like a node's own. Scripts of earlier versions read nodes so, and a run goes on after an
// upgrade.
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "burnin/agent/node/tree.h"

namespace cupel::burnin {

class PrintedTree final : public agent::Tree {
 public:
  /// Lines that begin otherwise than with /proc/ or /sys/ are left aside, but for "cupel-vpd:
  /// mlx5_0 8215004e56...": a file of bytes, in hexadecimal. At most 200,000 lines.
  explicit PrintedTree(std::string_view text);

  bool empty() const { return files_.empty(); }

  using Tree::bytes;
  std::optional<std::string> bytes(std::string_view path, std::size_t most) const override;
  std::vector<std::string> names(std::string_view folder) const override;
  /// Nothing: where a link led was not printed.
  std::optional<std::string> resolved(std::string_view path) const override;
  bool exists(std::string_view path) const override;

 private:
  void take_line(std::string_view line);
  void take_vpd(std::string_view line);

  std::map<std::string, std::string, std::less<>> files_{};
};

}  // namespace cupel::burnin
