#pragma once
// What a measurement, a cause or a record is about: a node, a part of one, a link with its two
// ends, a port of a switch, a feed of a PDU, or a group of nodes. A value, and its one text form.
#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::inventory {

struct Subject {
  enum class Kind { node, part, link, switch_port, power_feed, group };

  Kind kind = Kind::node;
  std::string name{};      // of the node, switch, PDU or group; of a link: of its first end
  std::string part{};      // "gpu3"; the port or feed; of a link: where it ends there
  std::string far_name{};  // of a link alone: its second end
  std::string far_part{};

  static Subject node(std::string name) { return {Kind::node, std::move(name)}; }
  /// What `part` names in the record of a node: the node as a whole where it is empty, a link, a
  /// port, a feed or a group where it is the text of one, else a part of the node.
  static Subject part_of(std::string node, std::string part);

  friend auto operator<=>(const Subject&, const Subject&) = default;
};

/// "a01-n07", "a01-n07/gpu3", "link:a01-n07/mlx5_0/1<->leaf3/swp7", "port:leaf3/swp7",
/// "feed:pdu2/B", "group:rail0".
std::string to_text(const Subject& subject);

/// "link", "power-feed".
std::string_view to_string(Subject::Kind kind);

/// What part_of() reads as this subject in the record of a node: "gpu3" of its own, in full what
/// belongs to no node. For another node and its parts there is no such text.
std::string part_text(const Subject& subject);

/// Of no single node: a link, a switch's port, a feed, a group.
bool is_beyond_a_node(const Subject& subject);

/// Strict: a name has letters, digits, '.', '_' and '-'; a part is printable, with no blank at its
/// ends; each has at most 128 bytes. Errors: kMalformed.
Result<Subject> parse_subject(std::string_view text);

/// Whether its text reads as the same subject.
bool is_valid(const Subject& subject);

}  // namespace cupel::inventory
