// The forms of the language. `policyFile` is the whole of it. compiler/syntax walks blocks itself and asks ANTLR for one
// piece at a time (a head up to its brace, a statement, a test's step), so memory stays small and an error stays in its
// piece; the test of this folder holds both readings together. Where a form may not mean something (`a and b or c`,
// `a < b < c`, a word in the wrong place), the grammar is wider and the reader refuses it in the author's terms.
parser grammar CurfewParser;

options { tokenVocab = CurfewLexer; }

policyFile : header* declaration* EOF ;

header : 'language' number | 'package' path | 'use' text ;

declaration
  : attributesHead attribute* '}'
  | imageHead imageField* '}'
  | secretHead secretField* '}'
  | listDeclaration
  | sandboxHead sandboxMember* '}'
  | setRule
  | testHead testItem* '}'
  ;

// ---- Attributes, images, secrets, lists

attributesHead : 'attributes' name '{' ;
attribute      : name ':' type 'restated'? ;
type           : (('set' | 'list') 'of')? typeName '?'? ('at' 'most' number)? ;
typeName       : name ('<' name)* | name ('|' name)+ ;

imageHead  : 'image' newName '{' ;
imageField : 'ref' text | 'digest' digest ;

secretHead  : 'secret' newName '{' ;
secretField : 'from' name text | 'send' ('header' text | name) 'to' text (',' text)* ;

listDeclaration : ('hosts' | 'addresses' | 'digests' | 'strings') newName ('from' text | list) ;

// ---- Sandboxes

sandboxHead   : 'every' 'sandbox' ('when' condition)? '{'
              | 'sandbox' newName ('narrows' newName)? ('by' 'name')? ('when' condition)? '{' ;
sandboxMember
  : imagePlane | identityPlane | filesystemPlane | networkPlane | lifetimePlane | evidencePlane
  | setRule
  ;
imagePlane      : 'image' '{' imageStatement* '}' ;
identityPlane   : 'identity' '{' identityStatement* '}' ;
filesystemPlane : 'filesystem' '{' (filesystemStatement | keepHead keepItem* '}')* '}' ;
networkPlane    : 'network' '{' networkStatement* '}' ;
lifetimePlane   : 'lifetime' '{' lifetimeStatement* '}' ;
evidencePlane   : 'evidence' '{' evidenceStatement* '}' ;
planeHead       : ('image' | 'identity' | 'filesystem' | 'network' | 'lifetime' | 'evidence') '{' ;

imageStatement
  : 'allow' ('none' | newNames)
  | 'exec' ('any' | 'none' | texts)
  | 'size' sizeItem (',' sizeItem)*
  | 'isolation' name
  ;
sizeItem : name amountBound ;

identityStatement
  : 'token' 'audience' text 'lives' duration
  | 'secrets' ('none' | newNames)
  | 'env' ('none' | texts)
  | 'access' ('none' | audience (',' audience)*)
  ;
audience : DOTTED | STRING | 'any' ;

filesystemStatement
  : 'scratch' text byteSize
  | label? ('import' | 'export') ('none' | texts 'each'? 'at' 'most' byteSize tail)
  | ('persist' | 'snapshot') 'none'
  ;
keepHead : 'persist' newName text byteSize '{' | 'snapshot' name '{' ;
keepItem
  : 'reason' text
  | 'owner' text
  | 'expires' durationBound
  | 'size' sizeBound
  | 'keep' number
  | 'branches' 'at' 'most' number
  | 'from' newNames
  | 'renews'
  | 'shared' 'by' 'class'
  ;

networkStatement
  : 'tls' name
  | label? 'allow' ('none' | allowed ('with' 'encoded' 'slash')? ('using' newName)? tail)
  | label? trial? 'deny' denied tail
  | 'limit' limitItem (',' limitItem)*
  | label? 'expose' ('none' | portRange 'to' audience 'for' durationBound tail)
  ;
allowed   : methods targets query? | ('connect' | 'websocket') targets ;   // an allow names what it opens
denied    : methods ('any' | targets)? query? | ('connect' | 'websocket') ('any' | targets) | targets query? ;
methods   : METHOD (',' METHOD)* | 'any' ;
targets   : target (',' target)* ('at' place (',' place)*)? (('port' | 'ports') portRange (',' portRange)*)? ;
target    : STRING | newName | 'internet' ;
place     : STRING | newName ;
portRange : number ('..' number)? ;
query     : 'query' queryTerm (',' queryTerm)* ;
queryTerm : name '==' text ;
limitItem : amount ('requests' 'per' duration | 'per' 'request' | 'in' 'all') ;

lifetimeStatement
  : 'ttl' durationBound
  | 'idle' duration 'then' name
  | 'frozen' 'at' 'most' duration
  | 'renew' ('none' | 'at' 'most' number 'times' 'by' duration)
  | 'grace' duration
  ;

evidenceStatement
  : 'record' 'all' ('except' action 'allow' (',' action 'allow')*)?
  | 'redact' name texts
  | 'retain' duration
  ;

// ---- Rules of a class or of the set

setRule
  : label? trial? 'deny' actions tail
  | label? trial? 'require' actions ('when' condition)? ':' condition because?
  | label? trial? 'never' actions tail
  ;
actions : action (',' action)* ;
action  : 'create' | 'resume' | 'exec' | 'egress' | 'expose' | 'snapshot' | 'import' | 'export' | 'extend' | 'observe' ;
label   : newName ':' ;
trial   : 'trial' ('until' time)? ;
tail    : ('when' condition)? because? ;
because : 'because' text ;

// ---- Conditions

condition  : operand (('and' | 'or') operand)* ;
operand    : 'not'* (quantified | 'has' path | comparison) ;
quantified : ('any' | 'all' | 'none') name 'in' sum 'where' '(' condition ')' ;
comparison : sum (comparator sum)* ;
comparator : '==' | '!=' | '<' | '<=' | '>' | '>=' | 'not'? 'in' | 'matches' | 'starts' | 'subset' 'of' | 'intersects' ;
sum        : value (('+' | '-') value)* ;
value      : scalar | list | DOTTED | 'count' '(' condition ')' | '(' condition ')' ;
scalar     : STRING | QUANTITY | TIME | DIGEST_LITERAL | 'true' | 'false' | name ;
list       : '[' (value (',' value)* ','?)? ']' ;

// ---- Tests

testHead : 'test' text '{' ;
testItem
  : 'given' fixture (',' fixture)*
  | 'after' duration
  | 'at' time
  | 'freeze'
  | 'close'
  | 'reload' text
  | ask object? '->' answer
  ;
fixture : name object ;
ask
  : 'create' (wish (',' wish)*)?
  | 'resume' ('snapshot' name?)?
  | 'exec' text list?
  | 'egress' (METHOD | 'connect' | 'websocket')? texts
  | 'expose' number ('to' text)? ('for' duration)?
  | 'snapshot' name?
  | ('import' | 'export') text
  | 'observe' name
  | 'extend' ('by' duration)?
  ;
wish        : name wished ;
wished      : scalar | list | DOTTED ;
object      : '{' (field (',' field)* ','?)? '}' ;
field       : name ':' (wished | object) ;
answer      : ('allow' | 'deny') 'only'? answerIds? ('with' object)? (',' 'trial' trialAnswer)? ;
trialAnswer : ('allow' | 'deny') answerIds ;
answerIds   : answerId (',' answerId)* ;
answerId    : DOTTED | IDENT ;

// ---- Leaves, named as an author calls them

text     : STRING ;
number   : QUANTITY ;
duration : QUANTITY ;
byteSize : QUANTITY ;
amount   : QUANTITY ;
time     : TIME ;
digest   : DIGEST_LITERAL ;

durationBound : duration ('at' 'most' duration)? | 'at' 'most' duration ;
sizeBound     : byteSize ('at' 'most' byteSize)? | 'at' 'most' byteSize ;
amountBound   : amount ('at' 'most' amount)? | 'at' 'most' amount ;

texts    : text (',' text)* ;
newNames : newName (',' newName)* ;
path     : DOTTED | name ;
name     : IDENT | softWord | valueWord ;
newName  : IDENT | softWord ;                 // what is declared, and what names a declaration
valueWord
  : 'any' | 'all' | 'none' | 'allow' | 'deny' | 'require' | 'never' | 'trial' | 'internet' | 'connect' | 'websocket' ;
softWord
  : 'language' | 'package' | 'use' | 'attributes' | 'restated' | 'set' | 'list' | 'of' | 'image' | 'ref' | 'digest'
  | 'secret' | 'from' | 'send' | 'to' | 'header' | 'hosts' | 'addresses' | 'digests' | 'strings'
  | 'sandbox' | 'every' | 'narrows' | 'by' | 'name' | 'size' | 'isolation' | 'exec'
  | 'identity' | 'token' | 'audience' | 'lives' | 'secrets' | 'env' | 'access'
  | 'filesystem' | 'scratch' | 'import' | 'export' | 'each' | 'persist' | 'snapshot' | 'reason' | 'owner' | 'expires'
  | 'keep' | 'branches' | 'renews' | 'shared' | 'class'
  | 'network' | 'tls' | 'port' | 'ports' | 'query' | 'with' | 'encoded' | 'slash' | 'using' | 'limit' | 'requests'
  | 'request' | 'per' | 'expose' | 'for'
  | 'lifetime' | 'ttl' | 'idle' | 'then' | 'frozen' | 'renew' | 'times' | 'grace'
  | 'evidence' | 'record' | 'except' | 'redact' | 'retain'
  | 'create' | 'resume' | 'egress' | 'extend' | 'observe' | 'until'
  | 'test' | 'given' | 'after' | 'at' | 'most' | 'freeze' | 'close' | 'reload' | 'only'
  | 'count' | 'matches' | 'starts' | 'subset' | 'intersects'
  ;
