#include "inventory/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <set>
#include <spanstream>
#include <unordered_map>

#include "base/text.h"
#include "inventory/yaml_bounds.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kDeepest = 64;

/// Thrown through yaml-cpp's parser, and caught in parse_yaml: the library offers no other way out.
struct Refused {
  int line;
  int column;
  std::string what;
};

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// The first character of valid UTF-8 that could move a terminal's cursor, turn its text around, or
/// stand for a line's end where nobody sees one. Source: Unicode 15, 23.1 (controls), table 23-3
/// (bidirectional), 5.8 (U+2028, U+2029).
std::optional<unsigned> control_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = byte_at(text, i), second = byte_at(text, i + 1),
               third = byte_at(text, i + 2);
    if ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7F) return first;
    if (first == 0xC2 && second < 0xA0) return second;
    if (first != 0xE2) continue;
    const auto code = 0x2000 + ((second & 0x3F) << 6) + (third & 0x3F);
    if ((code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069)) return code;
  }
  return std::nullopt;
}

/// What yaml-cpp says, without what it quotes of a hostile file.
std::string yaml_message(const YAML::Exception& fault) {
  constexpr std::size_t kLongestSaying = 200;
  return shortened(valid_utf8(printable(fault.msg)), kLongestSaying);
}

/// Where a byte is; its column in bytes.
Place place_at(std::string_view text, std::size_t at, const std::string& file) {
  const auto before = text.substr(0, at);
  const auto end = before.rfind('\n');
  const auto column = end == before.npos ? at + 1 : at - end;
  return {file, static_cast<int>(std::ranges::count(before, '\n')) + 1, static_cast<int>(column)};
}

/// yaml-cpp says of a tab that indents only what it cannot read then ("illegal block entry").
const char* advice_on(std::string_view text, std::size_t line) {
  const auto all = lines(text);
  if (line >= all.size()) return "";
  const auto indent = all[line].substr(0, all[line].find_first_not_of(" \t"));
  return indent.find('\t') == indent.npos ? "" : ": a tab indents this line, use spaces";
}

/// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlValue root;
  YamlCost spent{};

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      refuse(mark,
             "a second document begins here: a file holds one, so put this into a file of its own");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(made(YamlValue::Kind::null, mark), anchor, mark, {1, 0});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias to something that is not complete yet");
    spend(found->second.cost, mark);
    copy(found->second.cost, mark);
    auto again = found->second.value;
    add(std::move(again), YAML::NullAnchor, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check_tag(tag, mark);
    // An unquoted, empty or "~" scalar has the tag "?": YAML 1.2, 10.3.2, null.
    const bool plain = tag == "?";
    const bool null = plain && (text.empty() || text == "~" || text == "null");
    check_text(text, mark);
    auto value = made(null ? YamlValue::Kind::null : YamlValue::Kind::scalar, mark, text.size());
    value.text = text;
    value.quoted = !plain;
    add(std::move(value), anchor, mark, {1, text.size()});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(tag, mark);
    open(YamlValue::Kind::list, anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(tag, mark);
    open(YamlValue::Kind::map, anchor, mark);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    YamlValue value;
    YAML::anchor_t anchor;
    YAML::Mark mark;
    YamlCost before;  // what had been read when it began
    std::optional<YamlValue> key{};
    std::set<std::string, std::less<>> keys{};
  };
  struct Anchored {
    YamlValue value;
    YamlCost cost;
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string what) {
    throw Refused{mark.line + 1, mark.column + 1, std::move(what)};
  }
  /// "?": plain; "!": quoted, or a block. Source: YAML 1.2, 6.9.1.
  static void check_tag(const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
    refuse(mark, "a tag such as !!binary is not read here: in write_files say encoding: b64");
  }
  static void check_text(const std::string& text, const YAML::Mark& mark) {
    if (text.size() > kLongestYamlText)
      refuse(mark, fmt::format("a text of {} bytes: at most {} KiB", text.size(),
                               kLongestYamlText / 1024));
    if (const auto control = control_in(text))
      refuse(mark, fmt::format("a text with the control character U+{:04X}", *control));
  }
  void spend(const YamlCost& cost, const YAML::Mark& mark) {
    spent.values += cost.values;
    spent.bytes += cost.bytes;
    if (spent.values > kMostYamlValues)
      refuse(mark, fmt::format("more than {} values", kMostYamlValues));
    if (spent.bytes > kMostYamlBytes)
      refuse(mark, fmt::format("more than {} MiB of text", kMostYamlBytes >> 20));
  }
  /// What an anchor keeps for its aliases, and what each alias puts in its own place.
  void copy(const YamlCost& cost, const YAML::Mark& mark) {
    copied_.values += cost.values;
    copied_.bytes += cost.bytes;
    if (copied_.values > kMostYamlCopies || copied_.bytes > kMostYamlBytes)
      refuse(mark, fmt::format("the aliases stand for more than {} values or {} MiB of text",
                               kMostYamlCopies, kMostYamlBytes >> 20));
  }
  YamlValue made(YamlValue::Kind kind, const YAML::Mark& mark, std::size_t bytes = 0) {
    spend({1, bytes}, mark);
    YamlValue value;
    value.kind = kind;
    value.line = mark.line + 1;
    value.column = mark.column + 1;
    return value;
  }
  void open(YamlValue::Kind kind, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (levels_.size() == kDeepest) refuse(mark, "nested deeper than 64 levels");
    const auto before = spent;
    levels_.push_back({made(kind, mark), anchor, mark, before});
  }
  void close() {
    auto level = std::move(levels_.back());
    levels_.pop_back();
    const YamlCost cost{spent.values - level.before.values, spent.bytes - level.before.bytes};
    add(std::move(level.value), level.anchor, level.mark, cost);
  }
  void add(YamlValue value, YAML::anchor_t anchor, const YAML::Mark& mark,
           const YamlCost& cost = {}) {
    if (anchor != YAML::NullAnchor) {
      copy(cost, mark);
      anchors_.insert_or_assign(anchor, Anchored{value, cost});
    }
    if (levels_.empty()) {
      root = std::move(value);
      return;
    }
    auto& level = levels_.back();
    if (level.value.kind == YamlValue::Kind::list)
      level.value.items.push_back(std::move(value));
    else if (!level.key)
      begin_entry(level, value);
    else
      end_entry(level, std::move(value));
  }
  static void begin_entry(Level& level, const YamlValue& key) {
    if (key.kind != YamlValue::Kind::scalar)
      throw Refused{key.line, key.column, "a key must be a word"};
    if (key.text == "<<" && !key.quoted)
      throw Refused{key.line, key.column,
                    "'<<' merges no maps here: put what all nodes share under defaults:, or repeat "
                    "a whole value with an alias (bmc: *bmc)"};
    if (!level.keys.insert(key.text).second)
      throw Refused{
          key.line, key.column,
          "key '" + shortened(key.text, kMostShownOfKey) + "' stands twice in the same map"};
    level.key = key;
  }
  static void end_entry(Level& level, YamlValue value) {
    value.key = std::move(level.key->text);
    value.key_line = level.key->line;
    value.key_column = level.key->column;
    level.value.items.push_back(std::move(value));
    level.key.reset();
  }

  static constexpr std::size_t kMostShownOfKey = 80;

  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  YamlCost copied_{};
  int documents_ = 0;
};

}  // namespace

const YamlValue* YamlValue::entry(std::string_view requested) const {
  if (kind != Kind::map) return nullptr;
  for (const auto& candidate : items)
    if (candidate.key == requested) return &candidate;
  return nullptr;
}

YamlCost cost_of(const YamlValue& value) {
  const bool entry = value.key_line > 0;
  YamlCost cost{entry ? 2U : 1U, value.text.size() + value.key.size()};
  for (const auto& item : value.items) {
    const auto inner = cost_of(item);
    cost.values += inner.values;
    cost.bytes += inner.bytes;
  }
  return cost;
}

std::optional<YamlDocument> parse_yaml(std::string_view text, std::string file,
                                       std::vector<Problem>& problems) {
  if (const auto valid = valid_utf8(text); valid != text) {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(text, valid).in1 - text.begin());
    problems.push_back({place_at(text, at, file), "the file is not UTF-8"});
    return std::nullopt;
  }
  if (const auto at = text.find('\0'); at != text.npos) {
    problems.push_back({place_at(text, at, file), "the file is no text: it has a zero byte"});
    return std::nullopt;
  }
  std::ispanstream stream{std::span{text.data(), text.size()}};
  TreeBuilder builder;
  try {
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) {
      problems.push_back({{file, 0, 0}, "the file is empty"});
      return std::nullopt;
    }
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& fault) {
    const auto line = static_cast<std::size_t>(std::max(fault.mark.line, 0));
    problems.push_back({{file, fault.mark.line + 1, fault.mark.column + 1},
                        "not YAML: " + yaml_message(fault) + advice_on(text, line)});
    return std::nullopt;
  } catch (const Refused& fault) {
    problems.push_back({{file, fault.line, fault.column}, fault.what});
    return std::nullopt;
  }
  return YamlDocument{std::move(file), std::move(builder.root)};
}

}  // namespace cupel::inventory
