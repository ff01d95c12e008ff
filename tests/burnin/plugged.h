#pragma once
// Plugs in ports, and a person who does word by word what an instruction says. Knows neither the
// planner nor its moves: it reads the text.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fabric.h"
#include "inventory/seen_fabric.h"

namespace cupel::testing {

class Plugged {
 public:
  /// The fabric as it is planned.
  explicit Plugged(const inventory::Fabric& plan);

  using End = inventory::CableEnd;

  /// Mistakes. A plug that is exchanged with an empty port is moved there.
  void exchange(const End& one, const End& other);
  void take_out(const End& one);  // the whole cable whose plug is there
  void connect(const End& one, const End& other);
  bool is_taken(const End& end) const { return plugs_.contains(end); }

  /// How many planned cables do not connect what they should.
  std::size_t wrong() const;

  /// Does what the text says. Empty; or why it cannot be done, or that a plug was taken out that
  /// was right.
  std::string obey(std::string_view instruction);

  /// As tools would report it.
  inventory::SeenFabric seen() const;

 private:
  struct Plug {
    int cable = 0;
    bool second = false;
    auto operator<=>(const Plug&) const = default;
  };
  bool is_right(const End& end) const;
  std::string take(const End& end, Plug& into);
  std::string put(const Plug& plug, const End& end);
  std::string obey_sentence(std::string_view sentence);
  const End* end_named(std::string_view text) const;
  std::map<Plug, End> places() const;

  const inventory::Fabric& plan_;
  std::map<std::string, End, std::less<>> labels_{};
  std::map<End, End> planned_{};
  std::map<End, Plug> plugs_{};
  std::vector<Plug> hand_{};
  int cables_ = 0;
};

}  // namespace cupel::testing
