// The rules about statements and names hold for every source, and would notice if they did not.
#include "house/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace raddle::house::statements_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// --- the sources --------------------------------------------------------------------------------

std::string over_all_sources(Findings (*rule)(const SourceFile&)) {
  std::string out;
  for (const char* folder : {"src/raddle", "workloads", "tests", "bench"})
    for (const SourceFile& file : sources(folder))
      for (const std::string& finding : rule(file)) out += finding + "\n";
  return out;
}

TEST(House, OneStatementALine) { EXPECT_EQ(over_all_sources(comma_chains), ""); }

TEST(House, LongFunctionsHaveWordsForNames) { EXPECT_EQ(over_all_sources(one_letter_names), ""); }

// --- the rules themselves -----------------------------------------------------------------------

Findings chains_in(const std::string& body) {
  return comma_chains({"a.cpp", "void f() {\n" + body + "\n}\n"});
}

TEST(CommaChains, AreFoundWithFileAndLine) {
  EXPECT_THAT(chains_in("int a;\na = b, c = d;"), ElementsAre(StartsWith("a.cpp:3: ")));
}

TEST(CommaChains, AreFoundWhereverAStatementStands) {
  for (const char* body : {"++i, x = y;",
                           "a.b = 1, a.c = 2;",
                           "f(1), g(2);",
                           "out[\"a\"] = 1, out[\"b\"] = 2;",
                           "if (a) b = 1, c = 2;",
                           "if (a) { b = 1, c = 2; }",
                           "else b = 1, c = 2;",
                           "for (;;) b += 1, c += 2;",
                           "do f(a), a = b; while (a);",
                           "return f(a), g(b);",
                           "case 1: a = 1, b = 2;",
                           "default: a = 1, b = 2;",
                           "*p = 1, *q = 2;",
                           "std::get<int, 2>(a) = 1, b = 2;",
                           "const auto l = [&] { a = 1, b = 2; };",
                           "g([&](int v) { a = v, b = v; });",
                           "g([=]() mutable -> int { return a = 1, b; });",
                           "g([&]<class T>(T v) { a = v, b = v; });",
                           "struct L { void m() { a = 1, b = 2; } };",
                           "delete p, p = nullptr;",
                           "x = a < b, y = c;",
                           "try { a = 1, b = 2; } catch (...) {}",
                           "for (int i = 0, j = 1; i < j; ++i, --j) a[i] = 1, b[i] = 2;"})
    EXPECT_EQ(chains_in(body).size(), 1u) << body;
}

TEST(CommaChains, OfMembersAndNamespacesAreFound) {
  const std::string constructor =
      "namespace n {\nA::A(int a) : a_(a), b_{2} {\n  c_ = 1, d_ = 2;\n}\n}\n";
  EXPECT_THAT(comma_chains({"a.cpp", constructor}), ElementsAre(StartsWith("a.cpp:3: ")));
  const std::string member =
      "class A : public B, C {\n public:\n  A& operator+=(const A& o) {\n    a += o.a, b += o.b;\n"
      "    return *this;\n  }\n};\n";
  EXPECT_THAT(comma_chains({"a.h", member}), ElementsAre(StartsWith("a.h:4: ")));
}

TEST(CommaChains, DeclarationsAndListsAreNone) {
  for (const char* body : {"alignas(64) int a[2], b[2];",
                           "int a = 1, b = 2;",
                           "const auto a = f(), b = g();",
                           "std::uint64_t a, b;",
                           "Foo<Bar, Baz> x;",
                           "std::map<A, B> x, y;",
                           "static constexpr const char *kA = \"\", *kB = \"\";",
                           "const auto [a, b] = f();",
                           "for (i = 0, j = 1; i < j; ++i, --j) f();",
                           "f(a, b);",
                           "x = {1, 2, 3};",
                           "x = std::pair<A, B>{1, 2};",
                           "return std::tuple<A, B>(1, 2);",
                           "g([](int a, int b) { return a; }, 2);",
                           "enum class E : int { A, B = 2, C };",
                           "struct L : M, N { int a, b; };",
                           "using T = std::pair<A, B>;",
                           "static_assert(a, \"\");",
                           "auto f = [&] { a = 1; }, g = [&] { b = 1; };",
                           "Foo x{1, 2}, y{3, 4};",
                           "a[1, 2] = 3;",
                           "unsigned long long a = 1, b = 2;",
                           "const Foo &a = f(), &b = g();",
                           "x = c ? f(1, 2) : g(3, 4);",
                           "\"a = b, c = d;\";",
                           "// a = b, c = d;\n",
                           "Foo* p = a, *q = b;",
                           "while (f(a), b) c = 1;",
                           "switch (a) { case f(1, 2): b = 1; }",
                           "unsigned a : 3, b : 4;",
                           "if constexpr (requires { a(1, 2); }) b = 1;",
                           "if (a < b && c > d) e = f;"})
    EXPECT_THAT(chains_in(body), IsEmpty()) << body;
}

TEST(CommaChains, HeadsOfDefinitionsAreNone) {
  for (const char* text :
       {"A::A(int a) : a_(a), b_{2}, c_(3) {}\n",
        "template <class A, class B = int>\nA f(A a, B b) {}\n",
        "class A final : public B<C, D>, E {};\n", "extern \"C\" const char a[], b[];\n",
        "template <class T>\n  requires A<T, int>\nvoid f() {}\n",
        "#define M(a, b) a = 1, b = 2;\n", "constexpr std::array<int, 2> kA = {1, 2};\n",
        "enum E { A, B };\n", "bool operator<(const A& a, const A& b) { return a.x > b.x; }\n",
        "auto f(int a, int b) -> std::map<A, B> { return {}; }\n"})
    EXPECT_THAT(comma_chains({"a.cpp", text}), IsEmpty()) << text;
}

/// A function of `lines` lines.
std::string function(const std::string& head, const std::string& body, unsigned lines) {
  std::string out = head + " {\n" + body + "\n";
  for (unsigned line = 3; line < lines; ++line) out += "  f();\n";
  return out + "}\n";
}
Findings letters_in(const std::string& body, const std::string& head = "void f()") {
  return one_letter_names({"a.cpp", function(head, body, 31)});
}

TEST(OneLetterNames, AreFoundInLongFunctionsOnly) {
  EXPECT_THAT(one_letter_names({"a.cpp", function("void f()", "  int a = 1;", 31)}),
              ElementsAre("a.cpp:2: 'a' in a function of more than 30 lines: expected a word"));
  EXPECT_THAT(one_letter_names({"a.cpp", function("void f()", "  int a = 1;", 30)}), IsEmpty());
  EXPECT_THAT(one_letter_names({"a.cpp", "int a = 1;\nstruct A {\n  int b;\n};\n"}), IsEmpty());
}

TEST(OneLetterNames, OfEveryKindOfDeclarationAreFound) {
  for (const char* body :
       {"int a;", "const auto& a = f();", "std::map<int, B>::iterator a = f();", "Foo a(1);",
        "Foo a{1};", "int word, b;", "const auto [word, b] = f();",
        "for (const auto& a : all) f();", "for (unsigned a = 0; a < 3; ++a) f();",
        "if (const auto a = f(); a) g();", "if (Foo* p = f()) g();", "catch (const Error& e) {}",
        "unsigned long a = 1;", "const auto word = [&](int a) { f(a); return a; };", "double a[3];",
        "for (const auto& [a, word] : all) f();", "g([&](const Foo& a) { f(a); g(a); });"})
    EXPECT_EQ(letters_in(body).size(), 1u) << body;
  for (const char* head : {"void f(int a)", "A::A(const Foo<B, C>& o) : p_(o)",
                           "template <class F>\nvoid f(F f, int word)", "bool A::f(Foo* p) const",
                           "int A::operator()(int a) const", "TEST(Foo, Bar) {}\nvoid f(int a)"})
    EXPECT_EQ(letters_in("", head).size(), 1u) << head;
}

TEST(OneLetterNames, CountersAndShortLambdasMayHaveThem) {
  for (const char* body :
       {"for (unsigned i = 0, n = 3; i < n; ++i) f();", "int x = 1, y = 2, z = 3;",
        "g([](const Foo& a, const Foo& b) { return a < b; });",
        "g([](auto a) -> int { return a; });", "a * b > c;", "if (a * b > c) f();",
        "if (a & b) f();", "return a;", "a = b;", "f(a * b);", "delete p;", "struct L { int a; };",
        "a.b = c;", "g(sizeof a);", "while (a && b) f();", "case a: f();", "x = y ? a : b;"})
    EXPECT_THAT(letters_in(body), IsEmpty()) << body;
  EXPECT_THAT(letters_in("", "A::A(int word) : a_(b * c), d_(e & f)"), IsEmpty());
}

}  // namespace
}  // namespace raddle::house::statements_test
