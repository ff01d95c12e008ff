#pragma once
// What a shell script says, as a tree. No meaning here: evaluator.cpp.
#include <memory>
#include <string>
#include <vector>

namespace cupel::rehearsal {

struct Command;
using CommandPtr = std::shared_ptr<const Command>;

struct Word;

/// A stretch of a word: text, or something that becomes text.
struct Piece {
  enum class Kind { text, parameter, command, arithmetic };
  Kind kind = Kind::text;
  bool quoted = false;
  std::string text{};  // text; name of the parameter; the arithmetic expression is in `argument`
  std::string
      operation{};  // of a parameter: "", "-", ":-", "=", "?", "+", "#", "##", "%", "%%", "length"
  std::shared_ptr<const Word> argument{};
  CommandPtr script{};
};

struct Word {
  std::vector<Piece> pieces{};
  bool quotes = false;  // something in it was quoted, be it nothing: '' is a word
};

struct Redirect {
  enum class Kind { read, write, append, read_write, duplicate, here };
  Kind kind{};
  int descriptor = 0;
  std::shared_ptr<Word> target{};  // shared: a here-document's text comes when its line ends
};

struct Assignment {
  std::string name;
  Word value;
};

struct CaseItem {
  std::vector<Word> patterns;
  CommandPtr body;
};

struct Command {
  enum class Kind {
    simple,
    pipeline,    // children; `negated`
    both,        // &&
    either,      // ||
    sequence,    // children, one after the other
    background,  // children[0]
    group,       // { }
    subshell,    // ( )
    condition,   // if: children are condition, body, condition, body, ..., [else]
    loop,        // while: children are condition, body; `negated` for until
    for_each,    // name, words, children[0]
    match,       // case: words[0], items
    function,    // name, children[0]
  };
  Kind kind{};
  std::vector<CommandPtr> children{};
  std::vector<Assignment> assignments{};
  std::vector<Word> words{};
  std::vector<Redirect> redirects{};
  std::vector<CaseItem> items{};
  std::string name{};
  bool negated = false;
  bool over_arguments = false;  // for x; do: "$@"
  int line = 1;
};

}  // namespace cupel::rehearsal
