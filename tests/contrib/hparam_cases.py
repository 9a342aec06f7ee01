"""What programs do with HParams: expressions that 1.15.5 and we must answer alike, errors included.

Each runs with ``HParams``, ``parse_values`` and ``make``, and gives its value or the kind and text of its error. It has
to run on Python 3.7 too.
"""

import json

import numpy as np

SCALARS = dict(i=1, f=0.5, b=True, s="text", li=[1, 2, 3], lf=[0.1, 0.2], lb=[True, False], ls=["a", "b"])


def _changed(hparams, call, *args):
    result = getattr(hparams, call)(*args)
    return result is hparams, hparams.values()


_PARSE = [
    "i=5", "i=-7", "i=2.0", "i=2.5", "i=1e3", "i=x", "i=true", "i= 4", " i=4", "i =4", "i=", "i", "", "=3", "i=4,",
    ",i=4", "i=4,i=5", "f=2", "f=1e-3", "f=-.54e89", "f=nan", "f=inf", "f=abc", "f=true", "f=0x10", "b=true", "b=false",
    "b=True", "b=False", "b=TRUE", "b=0", "b=1", "b=2", "b=yes", "b=1.0", "s=foo", "s=foo bar", "s=bar_1",
    "s=/a/b-c.txt", "s=a=b", "s=1", "s=true", "s='q'", 's="q"', "s=a:b", "s=ümlaut", "s=", "s=a;b", "s=x[1]", "s=(1)",
    "li=[4,5]", "li=[]", "li=[4, 5]", "li=[4,5", "li=4,5]", "li=[4.5]", "li=[x]", "li=7", "li=[1],li=[2]", "li=[[1]]",
    "li[1]=9", "li[0]=8,li[2]=7", "li[3]=9", "li[-1]=9", "li[a]=9", "li[1]=[9]", "li[1]=9,li[1]=8", "li=[1,2],li[0]=3",
    "li[0]=3,li=[1,2]", "li[0]=3,li=1", "li[0]=1.5", "li[]=1", "li[0] = 3", "i[0]=3", "i=[3]", "i=[3,4]", "lf[0]=3",
    "lf=[1,2]", "lb=[true,False,1,0]", "lb[1]=true", "lb=[2]", "ls=[x,y]", "ls=[x y,z]", "ls=[x,]", "ls[1]=q",
    "ls=[a=b]", "ls=x", "unknown=3", "unknown[0]=3", "unknown=[1]", "i=3,unknown=4", "i=3,f=0.25,s=z,li=[9]",
    "i=3 ,f=4", "i=3, f=4", "i=3\nf=4", "i=3;f=4", "i==3", "b=true,s=x,b=false", "s=C:\\dir", "s=http://a.b/c?d#e",
    "s=50%", "f=1_000", "i=1_000", "i=+3", "f=+3.", "i=0x10", "i=1L", "s=[a]", "s=[a,b]", "s[0]=a",
    "f=1,f=2", "f=[1,2]", "ls=[]", "s=a b,i=2", "a.b=1", "i.x=1",
    "s=a]", "_a=1", "1a=1", "a-b=1", "li[ 0 ]=1", "li [0]=1", "li[0]  =1", "s=x\t", "li=[1]  ,i=2", "li=[1] x,i=2",
    "i=1,,f=2", "i=1,  ", "li= [1]", "ls=['a']", "s= ", "li=[ 1  2 ]", "s=[", "s=a[", "unknown=1,unknown=2",
    "i=x,i=[1]", "i=1,i[0]=2", "i=[1],unknown=2", "li[0]=1,i=x", "li[00]=1", "li=[1", "unknown[0]=[1]", "i=3,f=x",
]  # fmt: skip

_JSON = [
    {"i": 5}, {"i": 5.0}, {"i": 2.5}, {"i": "x"}, {"i": "5"}, {"i": True}, {"i": None}, {"i": [1]}, {"f": 2},
    {"f": True}, {"f": "2"}, {"b": False}, {"b": 1}, {"b": "true"}, {"s": "new"}, {"s": 3}, {"s": 2.5}, {"s": True},
    {"s": None}, {"li": [7, 8]}, {"li": 7}, {"li": []}, {"li": [1.5]}, {"li": ["a"]}, {"lf": [1, 2]}, {"ls": [1]},
    {"lb": [0]}, {"unknown": 1}, {"i": 2, "unknown": 1}, {},
]  # fmt: skip

EXPRESSIONS = (
    ["make().values()", "make().to_json(sort_keys=True)", "make().to_json(indent=2, sort_keys=True)"]
    + ["make().to_json(separators=(',', ':'), sort_keys=True)"]
    + [f"changed(make(), 'parse', {text!r})" for text in _PARSE]
    + [f"changed(make(), 'parse_json', {json.dumps(values)!r})" for values in _JSON]
    + [f"changed(make(), 'override_from_dict', {values!r})" for values in _JSON]
    + [
        f"changed(make(), 'set_hparam', {name!r}, {value!r})"
        for name in ("i", "f", "b", "s", "li", "ls", "unknown")
        for value in (3, 2.0, 2.5, True, "x", "3", "true", [4, 5], ["x"], [], None, (1, 2))
    ]
    + [
        "make().parse_json('[1, 2]')",
        "make().parse_json('not json')",
        "make().parse_json('3')",
        "changed(make(), 'override_from_dict', {'f': np.float32(0.25)})",
        "changed(make(), 'override_from_dict', {'i': np.int64(4)})",
        "changed(make(), 'override_from_dict', {'li': (7, 8)})",
        "changed(make(), 'override_from_dict', {'li': np.array([7, 8])})",
        "changed(make(), 'set_from_map', {'i': 9})",
        "changed(make(), 'add_hparam', 'new', 3)",
        "changed(make(), 'add_hparam', 'i', 3)",
        "changed(make(), 'add_hparam', 'parse', 3)",
        "changed(make(), 'add_hparam', 'values', 3)",
        "changed(make(), 'add_hparam', 'empty', [])",
        "changed(make(), 'add_hparam', 'none', None)",
        "changed(make(), 'add_hparam', 'tuple', (1, 2))",
        "changed(make(), 'add_hparam', 'dict', {'a': 1})",
        "changed(make(), 'add_hparam', 'a.b', 1)",
        "changed(make(), 'del_hparam', 'i')",
        "changed(make(), 'del_hparam', 'unknown')",
        "changed(make(), 'del_hparam', 'values')",
        "HParams(none=None).parse('none=3').values()",
        "HParams(none=None).parse('none=abc').values()",
        "HParams(none=None).override_from_dict({'none': 3}).values()",
        "HParams(none=None).override_from_dict({'none': 'x'}).values()",
        "HParams(none=None).override_from_dict({'none': [1]}).values()",
        "HParams(d={'a': 1}).override_from_dict({'d': {'b': 2}}).values()",
        "HParams(d={'a': 1}).parse('d=3').values()",
        "HParams(t=(1, 2)).values()",
        "HParams(t=(1, 2)).parse('t=[3,4]').values()",
        "HParams(t=(1, 2)).override_from_dict({'t': (3, 4)}).values()",
        "HParams(t=[None]).parse('t=[3,4]').values()",
        "HParams(mixed=[1, 'a']).parse('mixed=[2,3]').values()",
        "HParams(big=2 ** 40).parse('big=1099511627777').values()",
        "HParams(f=1.0).parse('f=1').f",
        "type(HParams(f=1.0).parse('f=1').f).__name__",
        "type(HParams(f=1.0).override_from_dict({'f': 2}).f).__name__",
        "type(HParams(i=1).override_from_dict({'i': 2.0}).i).__name__",
        "HParams(empty=[])",
        "HParams(f=lambda: 0).to_json()",
        "HParams(3, 4, 5)",
        "HParams(**{'a.b': 1}).parse('a.b=2').values()",
        "HParams(x=np.float32(0.5)).parse('x=0.25').values()",
        "HParams(x=np.int32(5)).parse('x=6').values()",
        "HParams(keep_prob=0.5, model_structure='lstm').get_model_structure()",
        "HParams(a=1).get('a')",
        "HParams(a=1).get('a', 2)",
        "HParams(a=1).get('a', 'x')",
        "HParams(a=1).get('a', 2.5)",
        "HParams(a=[1]).get('a', [2])",
        "HParams(a=[1]).get('a', 2)",
        "HParams(a=[1]).get('a', ['x'])",
        "HParams(a='x').get('a', 2)",
        "HParams(a=True).get('a', 2)",
        "HParams(a=None).get('a', 2)",
        "HParams(a=1).get('a', [1])",
        "HParams(a=[1]).get('a', [])",
        "HParams(a=[1]).get('a', [2, 'x'])",
        "HParams(a=[1]).get('a', (2,))",
        "HParams(a=(1, 2)).get('a', [2])",
        "HParams(a=None).get('a', [2])",
        "HParams(a=1.5).get('a', 2)",
        "HParams(a=1).get('b')",
        "HParams(a=1).get('b', 3)",
        "'a' in HParams(a=1)",
        "'b' in HParams(a=1)",
        "'values' in HParams(a=1)",
        "HParams(a=1) == HParams(a=1)",
        "HParams(a=1) == {'a': 1}",
        "HParams(a=1).b",
        "HParams(a=1).a",
        "HParams(a=1).__dict__",
        "vars(HParams(a=1))",
        "repr(HParams(b=1, a='x', c=[1.5]))",
        "str(HParams(b=1, a='x', c=[1.5]))",
        "str(HParams())",
        "str(HParams(a=['x', 'y'], b=None, c=True))",
        "repr(HParams())",
        "[h.add_hparam('none', 3) or h.values() for h in [HParams(none=None)]]",
        "[h.add_hparam('i', 3) or h.values() for h in [HParams(a=1)] if h.del_hparam('a') is None]",
        "[setattr(h, 'a', 'x') or (h.values(), h.get('a')) for h in [HParams(a=1)]]",
        "[setattr(h, 'b', 'x') or h.values() for h in [HParams(a=1)]]",
        "[h.set_model_structure('m') or h.get_model_structure() for h in [HParams(a=1)]]",
        "HParams(a=1).override_from_dict({'a': 10 ** 30}).a",
        "HParams(a=1.0).override_from_dict({'a': np.int32(3)}).a",
        "HParams(a=np.float32(1)).override_from_dict({'a': 'x'})",
        "HParams(a=np.float32(1)).override_from_dict({'a': 3}).a == 3",
        "HParams(a=b'x').override_from_dict({'a': 'y'}).a",
        "HParams(a='x').override_from_dict({'a': b'y'}).a",
        "HParams(a=True).override_from_dict({'a': np.bool_(False)}).a",
        "HParams(a=1).override_from_dict({'a': 1 + 2j}).a",
        "HParams(a=dict).values()['a'] is dict",
        "len(HParams(a=1))",
        "HParams(a=1)['a']",
        "list(HParams(a=1))",
        "sorted(HParams(a=1, b=2).values().items())",
        "setattr(make(), 'i', 'anything')",
        "dict(**HParams(a=1).values())",
        "copy.deepcopy(HParams(a=1)).values()",
        "copy.copy(HParams(a=1)).values()",
        "pickle.loads(pickle.dumps(HParams(a=1, b=[2]))).values()",
        "make().parse(None)",
        "make().parse(3)",
        "changed(make(), 'override_from_dict', [('i', 1)])",
        "make().override_from_dict(None)",
        "HParams(name='x', type='y', items=[1]).values()",
        "HParams(self=1)",
        "make().add_hparam('x')",
        "parse_values('a=1,b=x,c=[1,2],d[1]=3', {'a': int, 'b': str, 'c': float, 'd': int})",
        "parse_values('a=1', {'a': float})",
        "parse_values('a=1,z=2', {'a': int}, ignore_unknown=True)",
        "parse_values('z=[1,2],a=3', {'a': int}, ignore_unknown=True)",
        "parse_values('z[0]=1,a=3', {'a': int}, ignore_unknown=True)",
        "parse_values('a=1,z=2', {'a': int})",
        "parse_values('a=[1,2', {'a': int})",
        "parse_values('a[1]=1,a[1]=2', {'a': int})",
        "parse_values('a[1]=1,a=[2]', {'a': int})",
        "parse_values('a=None', {'a': str})",
        "parse_values('a=none', {'a': int})",
        "parse_values('a=', {'a': str})",
        "parse_values('a= x ,b=2', {'a': str, 'b': int})",
        "parse_values('a=True', {'a': bool})",
        "parse_values('a=1.5', {'a': bool})",
        "parse_values('a=[]', {'a': int})",
    ]
)


def answer(expression, hparams_class, parse_values):
    """The value of ``expression`` as text that JSON keeps; an error as its kind and text."""
    import copy
    import pickle

    names = dict(
        HParams=hparams_class,
        parse_values=parse_values,
        make=lambda: hparams_class(**SCALARS),
        changed=_changed,
        np=np,
        copy=copy,
        pickle=pickle,
    )
    try:
        value = eval(expression, names)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return repr(value)
