// The words of the language. The lexer reads bytes, not characters: every byte of a character beyond ASCII arrives as
// U+007F, which may stand only in strings and comments (what is hidden or not UTF-8 was refused before). Literals take
// generous shapes here and are judged where their place is known, so that a message can speak of durations and not of
// tokens.
lexer grammar CurfewLexer;

channels { COMMENTS }

DOC     : '##' (~[#\r\n] ~[\r\n]*)? -> channel(COMMENTS);   // documentation, when directly above a declaration
COMMENT : '#' ~[\r\n]*              -> channel(COMMENTS);
SPACE   : [ \t\r\n]+                -> skip;

// Hard words: never names.
AND : 'and'; OR : 'or'; NOT : 'not'; IN : 'in'; HAS : 'has'; YES : 'true'; NO : 'false';
WHEN : 'when'; BECAUSE : 'because'; WHERE : 'where';

// Never declared names, but fine as enum values and attributes (rule `valueWord` of the parser).
ANY : 'any'; ALL : 'all'; NONE : 'none'; ALLOW : 'allow'; DENY : 'deny'; REQUIRE : 'require'; NEVER : 'never';
TRIAL : 'trial'; INTERNET : 'internet'; CONNECT : 'connect'; WEBSOCKET : 'websocket';

// Soft words: names wherever they are not at their place (rule `softWord` of the parser).
LANGUAGE : 'language'; PACKAGE : 'package'; USE : 'use'; ATTRIBUTES : 'attributes'; RESTATED : 'restated';
SET : 'set'; LIST : 'list'; OF : 'of'; IMAGE : 'image'; REF : 'ref'; DIGEST : 'digest';
SECRET : 'secret'; FROM : 'from'; SEND : 'send'; TO : 'to'; HEADER : 'header';
HOSTS : 'hosts'; ADDRESSES : 'addresses'; DIGESTS : 'digests'; STRINGS : 'strings';
SANDBOX : 'sandbox'; EVERY : 'every'; NARROWS : 'narrows'; BY : 'by'; NAME : 'name';
SIZE : 'size'; ISOLATION : 'isolation'; EXEC : 'exec';
IDENTITY : 'identity'; TOKEN : 'token'; AUDIENCE : 'audience'; LIVES : 'lives'; SECRETS : 'secrets'; ENV : 'env'; ACCESS : 'access';
FILESYSTEM : 'filesystem'; SCRATCH : 'scratch'; IMPORT : 'import'; EXPORT : 'export'; EACH : 'each'; PERSIST : 'persist';
SNAPSHOT : 'snapshot'; REASON : 'reason'; OWNER : 'owner'; EXPIRES : 'expires'; KEEP : 'keep'; BRANCHES : 'branches';
RENEWS : 'renews'; SHARED : 'shared'; CLASS : 'class';
NETWORK : 'network'; TLS : 'tls'; PORT : 'port'; PORTS : 'ports'; QUERY : 'query'; WITH : 'with'; ENCODED : 'encoded';
SLASH : 'slash'; USING : 'using'; LIMIT : 'limit'; REQUESTS : 'requests'; REQUEST : 'request'; PER : 'per'; EXPOSE : 'expose'; FOR : 'for';
LIFETIME : 'lifetime'; TTL : 'ttl'; IDLE : 'idle'; THEN : 'then'; FROZEN : 'frozen'; RENEW : 'renew'; TIMES : 'times'; GRACE : 'grace';
EVIDENCE : 'evidence'; RECORD : 'record'; EXCEPT : 'except'; REDACT : 'redact'; RETAIN : 'retain';
CREATE : 'create'; RESUME : 'resume'; EGRESS : 'egress'; EXTEND : 'extend'; OBSERVE : 'observe'; UNTIL : 'until';
TEST : 'test'; GIVEN : 'given'; AFTER : 'after'; AT : 'at'; MOST : 'most'; FREEZE : 'freeze'; CLOSE : 'close'; RELOAD : 'reload'; ONLY : 'only';
COUNT : 'count'; MATCHES : 'matches'; STARTS : 'starts'; SUBSET : 'subset'; INTERSECTS : 'intersects';

METHOD   : [A-Z] [A-Z_]+ ;                                   // GET; the closed list is judged later
DIGEST_LITERAL : 'sha256:' [0-9A-Za-z]+ ;                    // length and alphabet: later
TIME     : D D D D '-' D D '-' D D 'T' [0-9:.]+ ('Z' | [+-] D D ':' D D)? ;
QUANTITY : D [0-9A-Za-z_]* ('.' D [0-9A-Za-z_]*)? ;          // 8080 1h30m 8GiB, and 1.5h to speak of it
DOTTED   : N ('.' [a-zA-Z0-9_]+)+ ;                          // task.kind: keywords inside are only text
IDENT    : N ;
STRING   : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;

ARROW : '->'; RANGE : '..'; EQ : '=='; NE : '!='; LE : '<='; GE : '>='; LT : '<'; GT : '>';
LB : '{'; RB : '}'; LK : '['; RK : ']'; LP : '('; RP : ')';
COLON : ':'; COMMA : ','; PIPE : '|'; QUESTION : '?'; PLUS : '+'; MINUS : '-';

OPEN_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? ;       // ends with its line instead of a quote
INVALID                                                      // begins nothing; habits from elsewhere are whole tokens
  : '//' ~[\r\n]* | '&&' | '||' | '===' | '!==' | '=>' | '=<' | '<>'
  | '\'' ~['\r\n]* '\''
  | [a-z]+ '://' BARE+ | '/' BARE+ | '*' BARE+ | D+ '.' D+ '.' D BARE* | N ('.' [a-zA-Z0-9_]+)+ '/' BARE+
  | '\u007F'+ | . ;

fragment BARE : ~[ \t\r\n,;"'()[\]{}#] ;                      // what an author left without quotes
fragment D : [0-9] ;
fragment N : [a-zA-Z_] [a-zA-Z0-9_]* ;
