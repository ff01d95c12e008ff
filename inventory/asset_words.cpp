#include "inventory/asset_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// U+00C0 to U+00DF without their accents, and so those 32 further on; '-': no letter.
constexpr std::string_view kLatin = "aaaaaaaceeeeiiiidnooooo-ouuuuy-s";

/// A text of UTF-8 that begins with a letter of two bytes.
std::string_view without_accent(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
  if (first == 0xC5 && (second == 0x92 || second == 0x93)) return "oe";
  if (first != 0xC3 || second < 0x80) return {};
  const auto plain = kLatin.substr(second & 0x1FU, 1);
  return plain == "-" ? std::string_view{} : plain;
}

constexpr auto kColumns = std::to_array<std::pair<std::string_view, AssetColumn>>(
    {{"serial", AssetColumn::serial},
     {"serialnumber", AssetColumn::serial},
     {"serialno", AssetColumn::serial},
     {"serialnum", AssetColumn::serial},
     {"serialnr", AssetColumn::serial},
     {"serialnumbersn", AssetColumn::serial},
     {"sn", AssetColumn::serial},
     {"seriennummer", AssetColumn::serial},
     {"seriennummersn", AssetColumn::serial},
     {"seriennr", AssetColumn::serial},
     {"serienno", AssetColumn::serial},
     {"sernr", AssetColumn::serial},
     {"numerodeserie", AssetColumn::serial},
     {"numeroserie", AssetColumn::serial},
     {"numdeserie", AssetColumn::serial},
     {"numserie", AssetColumn::serial},
     {"ndeserie", AssetColumn::serial},
     {"nserie", AssetColumn::serial},
     {"nodeserie", AssetColumn::serial},
     {"noserie", AssetColumn::serial},
     {"kind", AssetColumn::kind},
     {"type", AssetColumn::kind},
     {"component", AssetColumn::kind},
     {"componenttype", AssetColumn::kind},
     {"part", AssetColumn::kind},
     {"parttype", AssetColumn::kind},
     {"typ", AssetColumn::kind},
     {"bauteil", AssetColumn::kind},
     {"bauteiltyp", AssetColumn::kind},
     {"komponente", AssetColumn::kind},
     {"komponententyp", AssetColumn::kind},
     {"composant", AssetColumn::kind},
     {"typedecomposant", AssetColumn::kind},
     {"typedepiece", AssetColumn::kind},
     {"node", AssetColumn::node},
     {"nodename", AssetColumn::node},
     {"host", AssetColumn::node},
     {"hostname", AssetColumn::node},
     {"server", AssetColumn::node},
     {"servername", AssetColumn::node},
     {"rechner", AssetColumn::node},
     {"rechnername", AssetColumn::node},
     {"knoten", AssetColumn::node},
     {"knotenname", AssetColumn::node},
     {"serveur", AssetColumn::node},
     {"nomduserveur", AssetColumn::node},
     {"noeud", AssetColumn::node},
     {"hote", AssetColumn::node},
     {"nomdhote", AssetColumn::node},
     {"slot", AssetColumn::slot},
     {"bay", AssetColumn::slot},
     {"position", AssetColumn::slot},
     {"steckplatz", AssetColumn::slot},
     {"einbauplatz", AssetColumn::slot},
     {"emplacement", AssetColumn::slot},
     {"model", AssetColumn::model},
     {"modelname", AssetColumn::model},
     {"modell", AssetColumn::model},
     {"modele", AssetColumn::model},
     {"partnumber", AssetColumn::part_number},
     {"partno", AssetColumn::part_number},
     {"partnr", AssetColumn::part_number},
     {"pn", AssetColumn::part_number},
     {"teilenummer", AssetColumn::part_number},
     {"teilenr", AssetColumn::part_number},
     {"numerodepiece", AssetColumn::part_number},
     {"ndepiece", AssetColumn::part_number},
     {"purchaseorder", AssetColumn::order},
     {"purchaseordernumber", AssetColumn::order},
     {"po", AssetColumn::order},
     {"pono", AssetColumn::order},
     {"ponumber", AssetColumn::order},
     {"order", AssetColumn::order},
     {"orderno", AssetColumn::order},
     {"ordernumber", AssetColumn::order},
     {"bestellung", AssetColumn::order},
     {"bestellnummer", AssetColumn::order},
     {"bestellnr", AssetColumn::order},
     {"bondecommande", AssetColumn::order},
     {"ndecommande", AssetColumn::order},
     {"due", AssetColumn::due},
     {"duedate", AssetColumn::due},
     {"delivery", AssetColumn::due},
     {"deliverydate", AssetColumn::due},
     {"lieferdatum", AssetColumn::due},
     {"datedelivraison", AssetColumn::due}});

constexpr auto kKinds =
    std::to_array<std::pair<std::string_view, PartKind>>({{"", PartKind::system},
                                                          {"server", PartKind::system},
                                                          {"chassis", PartKind::system},
                                                          {"node", PartKind::system},
                                                          {"machine", PartKind::system},
                                                          {"rechner", PartKind::system},
                                                          {"knoten", PartKind::system},
                                                          {"gehause", PartKind::system},
                                                          {"gehaeuse", PartKind::system},
                                                          {"serveur", PartKind::system},
                                                          {"noeud", PartKind::system},
                                                          {"memory", PartKind::dimm},
                                                          {"memorymodule", PartKind::dimm},
                                                          {"ram", PartKind::dimm},
                                                          {"rammodule", PartKind::dimm},
                                                          {"dimmmodule", PartKind::dimm},
                                                          {"arbeitsspeicher", PartKind::dimm},
                                                          {"speichermodul", PartKind::dimm},
                                                          {"speichermodule", PartKind::dimm},
                                                          {"speicherriegel", PartKind::dimm},
                                                          {"memoire", PartKind::dimm},
                                                          {"barrettememoire", PartKind::dimm},
                                                          {"barrettedememoire", PartKind::dimm},
                                                          {"modulememoire", PartKind::dimm},
                                                          {"ssd", PartKind::nvme},
                                                          {"nvmessd", PartKind::nvme},
                                                          {"nvmedrive", PartKind::nvme},
                                                          {"solidstatedrive", PartKind::nvme},
                                                          {"disquessd", PartKind::nvme},
                                                          {"disquenvme", PartKind::nvme},
                                                          {"processor", PartKind::cpu},
                                                          {"prozessor", PartKind::cpu},
                                                          {"prozessoren", PartKind::cpu},
                                                          {"processeur", PartKind::cpu},
                                                          {"powersupply", PartKind::psu},
                                                          {"powersupplyunit", PartKind::psu},
                                                          {"supply", PartKind::psu},
                                                          {"netzteil", PartKind::psu},
                                                          {"netzteile", PartKind::psu},
                                                          {"stromversorgung", PartKind::psu},
                                                          {"alimentation", PartKind::psu},
                                                          {"blocdalimentation", PartKind::psu},
                                                          {"fanmodule", PartKind::fan},
                                                          {"lufter", PartKind::fan},
                                                          {"luefter", PartKind::fan},
                                                          {"luftermodul", PartKind::fan},
                                                          {"ventilateur", PartKind::fan},
                                                          {"adapter", PartKind::hca},
                                                          {"infinibandadapter", PartKind::hca},
                                                          {"infinibandcard", PartKind::hca},
                                                          {"infinibandkarte", PartKind::hca},
                                                          {"carteinfiniband", PartKind::hca},
                                                          {"hostchanneladapter", PartKind::hca},
                                                          {"networkadapter", PartKind::nic},
                                                          {"networkcard", PartKind::nic},
                                                          {"networkinterfacecard", PartKind::nic},
                                                          {"ethernetadapter", PartKind::nic},
                                                          {"netzwerkkarte", PartKind::nic},
                                                          {"netzwerkkarten", PartKind::nic},
                                                          {"netzwerkadapter", PartKind::nic},
                                                          {"cartereseau", PartKind::nic},
                                                          {"nvswitch", PartKind::switch_chip},
                                                          {"hdd", PartKind::drive},
                                                          {"disk", PartKind::drive},
                                                          {"harddisk", PartKind::drive},
                                                          {"harddiskdrive", PartKind::drive},
                                                          {"harddrive", PartKind::drive},
                                                          {"festplatte", PartKind::drive},
                                                          {"festplatten", PartKind::drive},
                                                          {"disque", PartKind::drive},
                                                          {"disquedur", PartKind::drive},
                                                          {"accelerator", PartKind::gpu},
                                                          {"acceleratorcard", PartKind::gpu},
                                                          {"graphicscard", PartKind::gpu},
                                                          {"graphicsprocessor", PartKind::gpu},
                                                          {"graphicsprocessingunit", PartKind::gpu},
                                                          {"gpucard", PartKind::gpu},
                                                          {"gpukarte", PartKind::gpu},
                                                          {"videocard", PartKind::gpu},
                                                          {"grafikkarte", PartKind::gpu},
                                                          {"grafikkarten", PartKind::gpu},
                                                          {"cartegraphique", PartKind::gpu},
                                                          {"beschleuniger", PartKind::gpu}});

/// Of the words of a kind, whole. Nothing: none.
std::optional<PartKind> whole_kind(std::string_view text) {
  auto word = bare_word(text);
  if (word.empty() && !trimmed(text).empty()) return std::nullopt;
  const auto known = [&]() -> std::optional<PartKind> {
    if (const auto own = part_kind(word)) return own;
    const auto found = std::ranges::find(kKinds, std::string_view{word},
                                         &std::pair<std::string_view, PartKind>::first);
    return found == kKinds.end() ? std::nullopt : std::optional{found->second};
  };
  if (const auto kind = known()) return kind;
  // "Graphics Cards": the last word alone.
  if (word.size() > 1 && word.ends_with('s')) word.pop_back();
  if (const auto kind = known()) return kind;
  // "Power Supplies", "cartes graphiques": each word by itself.
  std::string single;
  for (const auto each : words(text)) {
    auto one = bare_word(each);
    if (one.ends_with('s')) one.pop_back();
    if (one.ends_with("ie")) one.replace(one.size() - 2, 2, "y");
    single += one;
  }
  word = single;
  return word.empty() ? std::nullopt : known();
}

bool has_digit(std::string_view word) { return word.find_first_of("0123456789") != word.npos; }

/// What holds, cools or joins parts: "GPU tray 2" is no GPU.
bool is_beside_parts(std::string_view word) {
  constexpr auto kBeside = std::to_array<std::string_view>(
      {"tray",    "baseboard", "board",   "cage",       "backplane", "heatsink", "cable",
       "bracket", "riser",     "carrier", "kit",        "cover",     "bay",      "slot",
       "blank",   "filler",    "caddy",   "kabel",      "blende",    "halter",   "support",
       "bridge",  "cooler",    "socket",  "controller", "kuhler",    "kuehler"});
  return std::ranges::find(kBeside, bare_word(word)) != kBeside.end();
}

bool is_card_or_module(std::optional<PartKind> kind) {
  using enum PartKind;
  return kind == gpu || kind == cpu || kind == dimm || kind == nvme || kind == psu || kind == hca ||
         kind == nic || kind == dpu || kind == drive;
}

/// "GPU H100 SXM5", "GPU NVIDIA H100", "Power Supply 3000W". Not of "GPU tray", which is none, nor
/// of "CPU fan 2", which is another.
std::optional<PartKind> kind_before_model(std::string_view text) {
  const auto named = words(text);
  constexpr std::size_t kMostWordsOfKind = 3, kMostBetween = 2;
  std::string kind_words;
  for (std::size_t i = 0; i < std::min(named.size(), kMostWordsOfKind); ++i) {
    kind_words += std::string{kind_words.empty() ? "" : " "} + std::string{named[i]};
    const auto kind = whole_kind(kind_words);
    if (!is_card_or_module(kind)) continue;
    for (auto at = i + 1; at < named.size() && at <= i + 1 + kMostBetween; ++at) {
      const auto other = whole_kind(named[at]);
      if (is_beside_parts(named[at]) || (other && !is_card_or_module(other))) break;
      if (has_digit(named[at])) return kind;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string bare_word(std::string_view text) {
  std::string bare;
  const auto low = lower_case(text);
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (is_plain(low[i])) bare += low[i];
    if (static_cast<unsigned char>(low[i]) >= 0x80)
      bare += without_accent(std::string_view{low}.substr(i));
  }
  return bare;
}

std::optional<AssetColumn> asset_column(std::string_view name) {
  const auto word = bare_word(name);
  for (const auto& [known, column] : kColumns)
    if (known == word) return column;
  return std::nullopt;
}

std::optional<PartKind> asset_kind(std::string_view text) {
  if (const auto kind = whole_kind(text)) return kind;
  return kind_before_model(text);
}

bool stands_for_no_serial(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"ka",      "keineangabe", "keine",         "keineseriennummer",
       "ohne",    "entfallt",    "entfaellt",     "fehlt",
       "folgt",   "offen",       "unbekannt",     "nichtvorhanden",
       "neant",   "aucun",       "aucune",        "sans",
       "inconnu", "inconnue",    "nondisponible", "adefinir",
       "nd",      "tba",         "tbc",           "pending"});
  const auto word = bare_word(text);
  return word.empty() || std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace cupel::inventory
